"""Why an action of a module is not enabled, or a property false: the conjunct that fails, and the values there."""

from __future__ import annotations

from kmc.checking.modules.module_places import cut, shown_place, text_at
from kmc.story.explain.obstacles import Obstacle
from kmc.tla.run.decomposition import ModuleAction
from kmc.tla.run.failed_conjuncts import FailedConjunct
from kmc.tla.values.kinds import Value
from kmc.tla.values.order import written

_UNKNOWN = "it has no step from here"
_SHORT_MAX = 40


def obstacle(action: ModuleAction, failed: FailedConjunct | None) -> Obstacle:
    """Return the obstacle of an action; names that the action itself binds are in its label, and are not repeated."""
    name, _, rest = action.label.partition("(")
    arguments = (("", rest[:-1]),) if rest else ()
    if failed is None:
        place = "" if action.definition is None else shown_place(action.definition.place)
        return Obstacle(name, arguments, None, "", False, place, (), _UNKNOWN)
    known = action.frame[2:]
    names = tuple((bound, _shown(value)) for bound, value in failed.names if value not in known)
    guard = "" if failed.is_choice else text_at(failed.place)
    return Obstacle(name, arguments, None, guard, failed.holds, shown_place(failed.place), (), _sentence(failed, names))


def refutation_in_words(failed: FailedConjunct | None) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return why a formula is false: a sentence with the conjunct that is, and the values of names and parts of it.

    The sentence is empty where no conjunct was found.
    """
    if failed is None:
        return "", ()
    names = tuple((bound, _shown(value)) for bound, value in failed.names)
    text = text_at(failed.place)
    sentence = f"{text} is FALSE ({shown_place(failed.place)})." if text else f"{shown_place(failed.place)} is FALSE."
    return sentence, (*names, *_parts(failed))


def _sentence(failed: FailedConjunct, names: tuple[tuple[str, str], ...]) -> str:
    if failed.is_choice:
        return _listed(((text_at(failed.place) or "the set to choose from", "empty"), *names))
    facts = (*names, *_parts(failed))
    if not facts:
        text = text_at(failed.place)
        facts = ((text if 0 < len(text) <= _SHORT_MAX else "it", "TRUE" if failed.holds else "FALSE"),)
    return _listed(facts)


def _listed(pairs: tuple[tuple[str, str], ...]) -> str:
    return "; ".join(f"{name} is {value}" for name, value in pairs)


def _parts(failed: FailedConjunct) -> tuple[tuple[str, str], ...]:
    """Return the parts that a conjunct compares, each with its value; not those that are written as their values."""
    facts = dict.fromkeys((text_at(place), _shown(value)) for place, value in failed.parts)
    return tuple((text, value) for text, value in facts if text and "".join(text.split()) != "".join(value.split()))


def _shown(value: Value) -> str:
    return cut(written(value))
