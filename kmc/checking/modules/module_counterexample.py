"""The counterexample of a module: its story is that of its trace, with the property and its comment in the module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kmc.checking.counterexample import Counterexample
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_replay import check_module_violation
from kmc.checking.modules.module_text import first_sentence
from kmc.checking.modules.module_trace_file import module_trace_file
from kmc.invariants.properties import Predicate
from kmc.liveness.formulas import TemporalProperty
from kmc.liveness.refutation_lines import refutation_sentence, refuted_property
from kmc.result import Verdict, Violation
from kmc.tla.run.program import State

if TYPE_CHECKING:
    from kmc.story.parts.story import Story


class ModuleCounterexample(Counterexample):
    """A violation of a module with its trace as a neutral file."""

    def _story(self) -> Story:
        # Imported here: a check that finds nothing needs no story.
        from kmc.story.counterexample import lines_for_people, with_beginning
        from kmc.story.from_file import story_of_file
        from kmc.story.parts.story import Why

        story = story_of_file(self.file)
        refutation = self.violation.refutation
        if refutation is not None and refutation.cycle is not None and story.loop is not None:
            loop = replace(story.loop, fairness=lines_for_people(refutation.cycle))
            story = replace(story, loop=with_beginning(loop, refutation.why))
        broken = self._broken()
        doc = first_sentence(broken.doc) if broken is not None else ""
        place = f"{Path(broken.span.path).name}:{broken.span.line}" if broken is not None else ""
        why = Why(self.violation.name, doc, place, (), (), self._sentence())
        return replace(story, why=why, notes=())

    def _broken(self) -> Predicate | TemporalProperty | None:
        """Return the declared part of the property that fails, if a property fails."""
        if self.violation.name is None:
            return None
        declared: Sequence[Predicate | TemporalProperty] = self.model.invariants
        if self.violation.refutation is not None:
            declared = self.model.temporal
        elif self.violation.is_step:
            declared = self.model.action_properties
        return next((one for one in declared if one.name.partition(" (")[0] == self.violation.name), None)

    def _sentence(self) -> str:
        length = len(self.violation.trace)
        if self.violation.refutation is not None:
            return f"{refuted_property(self.violation)} is violated: {refutation_sentence(self.violation)}"
        match self.violation.verdict:
            case Verdict.DEADLOCK:
                return f"Deadlock: no step of the next-state relation is possible in state {length}."
            case Verdict.VIOLATION if self.violation.is_step:
                return f"{self.violation.name} is false of the step to state {length}."
            case Verdict.VIOLATION:
                return f"{self.violation.name} is false in state {length}."
            case _:
                message = self.violation.error.message if self.violation.error is not None else "no value"
                return f"Evaluation fails in state {length}: {message}."


def module_counterexample(
    module: CheckedModule, violation: Violation, start: State | None = None
) -> ModuleCounterexample:
    """Return the violation after a replay that shows it; else raise InternalError (exit 255).

    `start` is the first state of the trace where a person gave it. The violation of a temporal property has been
    replayed when it was made.
    """
    if violation.refutation is None:
        check_module_violation(module, violation, start)
    file = module_trace_file(module, violation, is_start_given=start is not None)
    return ModuleCounterexample(module.model, violation, file)
