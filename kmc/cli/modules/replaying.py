"""`kmc replay` of a trace of a TLA+ module: the module as it is now, and why the recorded failure still occurs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_reasons import refutation_in_words
from kmc.checking.modules.module_text import first_sentence
from kmc.checking.modules.retaken_trace import retake_in_module
from kmc.cli.modules.traced import module_of_trace
from kmc.cli.saved.replayed import Replay
from kmc.cli.saved.trace_place import TracePlace
from kmc.cli.saved.traced_model import recorded_failure
from kmc.reference.recurrence import RecordedFailure
from kmc.tla.resolved.property_parts import PartKind, property_parts
from kmc.trace.untyped_trace import TraceFile

if TYPE_CHECKING:
    from kmc.story.retaken import Retaken


def replay_in_module(
    place: TracePlace, file: TraceFile, spec: str | None, model: str | None, prop: str | None
) -> Replay:
    """Return the replay of a trace by its module, or by the module `spec`, with the model of its run or another one.

    Raises CommandLineError KMC699 for a trace that does not say where its module is, and as `retake_in_module`.
    """
    module = module_of_trace(file, place.path.parent, spec, model)
    failure = recorded_failure(file, prop)
    retaken = retake_in_module(file, module, failure)
    # The run of the trace has its model in a file of its own, which says nothing.
    recorded = file.about.get("model") if model is None else None
    names = module.model.spec.name, recorded or module.model.name
    return Replay(file, *names, failure, retaken, lambda failed: tuple(_reason(module, failed, retaken)))


def _reason(module: CheckedModule, failure: RecordedFailure, retaken: Retaken) -> list[str]:
    """The comment on the property, and the conjunct that makes it false; nothing for other failures."""
    if not retaken.shows or failure.name is None or retaken.loop is not None:
        return []
    states = retaken.states
    for part in property_parts(module.program.model):
        body = part.formula.body
        if part.property_name != failure.name or body is None or part.kind is PartKind.TEMPORAL:
            continue
        judged = states[-2:] if part.kind is PartKind.STEP else states[-1:]
        sentence, _ = refutation_in_words(module.program.refutation(body, *judged))
        if sentence:
            comment = first_sentence(part.formula.comment)
            return [f"  {line}" for line in (comment, sentence) if line]
    return []
