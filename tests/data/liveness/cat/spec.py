"""A cat moves between boxes, of which one is looked into each day: tlaplus/Examples, Moving_Cat_Puzzle/Cat.tla."""

from kmc.lang import Enum, Int, Record, constant
from kmc.spec import NEXT, always_eventually, and_, eventually, weak_fairness, spec

Number_Of_Boxes = constant("Number_Of_Boxes", Int(3, 9), "The boxes, in a row")


Box = Int(1, Number_Of_Boxes)


class Direction(Enum):
    LEFT, RIGHT = range(2)


class State(Record):
    cat_box: Box
    observed_box: Box
    direction: Direction


@spec.init
def init():
    for cat_box in range(1, Number_Of_Boxes + 1):
        for observed_box in range(2, Number_Of_Boxes):
            yield State(cat_box=cat_box, observed_box=observed_box, direction=Direction.LEFT)
            yield State(cat_box=cat_box, observed_box=observed_box, direction=Direction.RIGHT)


def next_box(st):
    return st.observed_box + 1 if st.direction == Direction.RIGHT else st.observed_box - 1


def is_observed(box):
    return 2 <= box and box < Number_Of_Boxes


def observe_box(st):
    """The box that is looked into next: at an end the direction is reversed, and the box stays."""
    return next_box(st) if is_observed(next_box(st)) else st.observed_box


def turn(st):
    if is_observed(next_box(st)):
        return st.direction
    return Direction.LEFT if st.direction == Direction.RIGHT else Direction.RIGHT


@spec.action
def day_passes(st):
    """Next: the cat moves, and another box is observed."""
    observed = st.set(observed_box=observe_box(st), direction=turn(st))
    if st.cat_box < Number_Of_Boxes:
        yield observed.set(cat_box=st.cat_box + 1)
    if st.cat_box > 1:
        yield observed.set(cat_box=st.cat_box - 1)


@spec.action(next=False)
def move_cat(st):
    """Move_Cat: it says nothing about the other variables."""
    for box in range(1, Number_Of_Boxes + 1):
        for seen in range(1, Number_Of_Boxes + 1):
            if box == st.cat_box + 1 or box == st.cat_box - 1:
                yield State(cat_box=box, observed_box=seen, direction=Direction.LEFT)
                yield State(cat_box=box, observed_box=seen, direction=Direction.RIGHT)


@spec.specification
def Unfair():
    return True


@spec.specification
def WfNext():
    return weak_fairness(NEXT)


@spec.specification
def WfMoveCat():
    return weak_fairness(and_(move_cat, lambda st, new: new.cat_box != st.cat_box))


@spec.liveness
def Victory():
    return eventually(lambda st: st.observed_box == st.cat_box)


@spec.liveness
def FirstBoxAgain():
    return always_eventually(lambda st: st.cat_box == 1)
