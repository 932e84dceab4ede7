"""An estimator that hangs or ends its process, in a file that processes import in no time."""

import json
import os
import threading

from sklearn.base import BaseEstimator

FOREVER = 600.0  # seconds; nothing waits so long


class Odd(BaseEstimator):
    """Hangs, or ends its process, for some kinds; threads hang until `released`."""

    released = threading.Event()
    begun = staticmethod(lambda: None)  # is called by what hangs, in threads

    def __init__(self, a=0.0, kind="good", log=None, pipe=None):
        self.a, self.kind, self.log, self.pipe = a, kind, log, pipe

    def fit(self, X, y=None):
        if self.log is not None:
            with open(self.log, "a") as file:
                file.write(json.dumps([self.kind, os.getpid()]) + "\n")
        if self.kind == "dies":
            os._exit(9)
        if self.kind == "hangs":
            if self.pipe is not None:  # in processes, through a pipe with a name
                with open(self.pipe, "w") as file:
                    file.write("begun")
            Odd.begun()
            Odd.released.wait(FOREVER)
        return self

    def score(self, X, y=None):
        return -((self.a - 0.7) ** 2)
