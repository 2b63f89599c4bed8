"""A module, its translation, and where they differ: initial states, steps one by one, verdicts of properties.

The module runs in the interpreter of TLA+, the translation in the interpreter of kmc's language. States of the
translation are decoded, so both sides are values of TLA+, and steps are compared with their multiplicity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmc.actions.relation import NextStateRelation
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_model
from kmc.invariants.properties import holds
from kmc.reference.states.initial import each_initial_state
from kmc.tla.names.loading import load_model
from kmc.tla.run.program import ModuleProgram, State
from kmc.tla.translate.folder import write_folder
from kmc.tla.translate.translated import TranslatedModel, translate_model

Edge = tuple[str, State]


@dataclass(frozen=True, slots=True)
class TranslatedPair:
    """A module that runs and the model that it was translated to."""

    program: ModuleProgram
    translated: TranslatedModel
    bound: Model

    def differences(self, states_max: int) -> list[str]:
        """Return the differences in the first states of the module, breadth first."""
        return list(self._differences(states_max))

    def _differences(self, states_max: int) -> Iterator[str]:
        decode = self.translated.decoder.state
        ours = list(each_initial_state(self.bound))
        yield from _compared("the initial states", self.program.initial_states(), map(decode, ours))
        spec = self.bound.spec
        relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
        names = {action.title: self.translated.names[action.name] for action in spec.actions}
        queue, seen, known, decoded = dict.fromkeys(ours), set(ours), 0, set[State]()
        while queue and known < states_max:
            state = next(iter(queue))
            del queue[state]
            known += 1
            before = decode(state)
            if before in decoded:
                yield f"several states of the translation are {before}"
            decoded.add(before)
            yield from self._properties(state, before)
            if not self.program.is_in_model(before):
                continue
            steps = [(names[action.title], successor) for action, _, successor in relation.steps(state)]
            theirs = [(label(step.label), step.state) for step in self.program.successors(before)]
            yield from _compared(f"the steps of {before}", theirs, ((name, decode(after)) for name, after in steps))
            queue.update({after: None for _, after in steps if after not in seen})
            seen.update(after for _, after in steps)

    def _properties(self, state: Any, before: State) -> Iterator[str]:
        for invariant, definition in zip(self.bound.invariants, self.program.model.invariants, strict=False):
            if holds(invariant, (), state) != self.program.holds(definition, before):
                yield f"{invariant.name} in {before}"


def label(text: str) -> str:
    """Return the name of an action without its arguments."""
    return text.partition("(")[0]


def _compared(what: str, theirs: Iterable[object], ours: Iterable[object]) -> Iterator[str]:
    module, spec = Counter(theirs), Counter(ours)
    for missing in module - spec:
        yield f"{what}: only the module has {missing}"
    for stray in spec - module:
        yield f"{what}: only the translation has {stray}"


def pair_of(folder: Path, module: str, configuration: str, widening: int = 0) -> TranslatedPair:
    """Translate the text of a module and of its `.cfg` file, with bounds that have `widening` more bits."""
    name = module.split("MODULE ")[1].split()[0]
    folder.mkdir(exist_ok=True)
    source = folder / f"{name}.tla"
    source.write_text(module, encoding="utf-8")
    source.with_suffix(".cfg").write_text(configuration, encoding="utf-8")
    resolved = load_model(source, source.with_suffix(".cfg"))
    program = ModuleProgram(resolved)
    translated = translate_model(resolved, program, widening=widening)
    write_folder(folder / "translated", translated.folder)
    file = find_model(folder / "translated", None)
    assert file is not None
    return TranslatedPair(program, translated, bind(folder / "translated", file))
