"""A callback of scikit-learn 1.9 that remembers which tasks it was told of."""


class Recorder:
    """Remembers when tasks begin and end, by name."""

    def __init__(self):
        self.tasks = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **kwargs):
        self.tasks.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, **kwargs):
        self.tasks.append(("end", context.task_name))
