"""What a learner gives back, looked at where it arrives."""

from typing import Any

from skbo_silbo._checks import check_members
from skbo_silbo.embedding._learner_protocol import Embedding, Learner

REMEDY = "Return skbo_silbo.embedding.LinearEmbedding.from_components(rows), a row a direction."


def check_learnt(learner: Learner, learnt: Any, d: int) -> None:
    """Refuse what is no embedding of points of d columns.

    Parameters
    ----------
    learner : Learner
        For the message.
    learnt : object
        What its `learn` has returned.
    d : int

    Raises
    ------
    ValueError
        When a member is missing, or `d` or `r` are not those of such an embedding.
    """
    name = f"what {learner.name}.learn returns"
    check_members(name, learnt, Embedding, REMEDY)
    if learnt.d != d or not 1 <= learnt.r <= d:
        raise ValueError(
            f"{name} must be an embedding of the {d} columns of X to 1 to {d} coordinates: got "
            f"d = {learnt.d} and r = {learnt.r}. {REMEDY}"
        )
