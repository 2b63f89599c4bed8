"""A spec in words: its declarations and its models."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rich.text import Text

from kmc.actions.abstraction import Abstraction
from kmc.actions.action import Action, Fairness, Parameter
from kmc.checking.model_choice import first_constants, override
from kmc.checking.model_text import constant_value, first_line
from kmc.cli.text.console import section
from kmc.compiler.checks.kinds.spec_kinds import check_kinds
from kmc.compiler.checks.spec_warnings import shared_members, spec_warnings
from kmc.error_text import shown_path
from kmc.frontend.loader import Spec, load_spec
from kmc.frontend.shipped import find_spec_root, manifest_of
from kmc.invariants.kinds import SHOWN, Role
from kmc.invariants.properties import Predicate, SymmetrySet, View
from kmc.lang.constants import Constant
from kmc.lang.domains import describe
from kmc.lang.types import EnumType, IdentType, PairType
from kmc.liveness.formulas import TemporalProperty
from kmc.model_files.manifest import Manifest
from kmc.model_files.model_file import ModelFile

_HEAD = "bold"
_NOTES = {Role.WITNESSED: " (some state must satisfy them)"}
_PREDICATES: tuple[tuple[str, type[Predicate] | type[TemporalProperty]], ...] = (
    *((kind.plural.capitalize() + _NOTES.get(kind.role, ""), kind.declared) for kind in SHOWN),
    ("Temporal properties (@spec.liveness)", TemporalProperty),
)


def loaded(name: str, sets: Sequence[str] = ()) -> tuple[Spec, Manifest | None]:
    """A spec with the constants of `sets`, of its first model, and with placeholders for those without a value."""
    root = find_spec_root(name)
    file = override(ModelFile("", "", first_constants(root)), sets)
    spec = load_spec(root, file.constants, allow_missing=True)
    check_kinds(spec)
    return spec, manifest_of(root)


def spec_lines(spec: Spec, manifest: Manifest | None, typed: str) -> Iterator[Text | str]:
    """Everything that a spec declares, and its models; `typed` is the word for the spec on the command line."""
    yield Text.assemble((spec.name, _HEAD), f"  {first_line(spec.doc)}")
    yield f"  {shown_path(spec.root)}"
    yield from section("Constants", [_constant(constant) for constant in spec.constants.values()])
    yield from _placeholders(spec)
    yield from section("Actions", [(_signature(action), _about(action)) for action in spec.actions])
    others = [(_signature(action), _about(action)) for action in spec.other_actions]
    yield from section("Actions that are not part of the next-state relation", others)
    fair = [(declared.name, first_line(declared.doc)) for declared in spec.specifications.values()]
    yield from section("Specifications, with their fairness", fair)
    for title, kind in _PREDICATES:
        declared = [prop for prop in spec.properties.values() if isinstance(prop, kind)]
        yield from section(title, [(prop.name, first_line(prop.doc)) for prop in declared])
    yield from section("Views", [_view(view) for view in spec.properties.values() if isinstance(view, View)])
    abstractions = [abstraction for abstraction in spec.properties.values() if isinstance(abstraction, Abstraction)]
    rows = [(abstraction.name, first_line(abstraction.doc)) for abstraction in abstractions]
    yield from section("Abstractions (a model chooses them)", rows)
    sets = [group for group in spec.properties.values() if isinstance(group, SymmetrySet)]
    yield from section(
        "Symmetry sets", [(s.name, "permutes " + ", ".join(c.__name__ for c in s.classes)) for s in sets]
    )
    yield from section("Notes", [(note, "") for note in shared_members(spec)])
    for warning in spec_warnings(spec, shown_path):
        yield ""
        yield f"Warning: {warning}"
    if manifest is not None:
        yield from section("Models", [row for model in manifest.models.values() for row in _model(model)])
        yield from section("Findings", [row for model in manifest.findings.values() for row in _model(model)])
        yield from section("Mutants", [row for model in manifest.mutants.values() for row in _model(model)])
        yield ""
        yield "Check one: " + shlex.join(["kmc", "check", typed, next(iter(manifest.entries), "")])


def _constant(constant: Constant) -> tuple[str, str]:
    default = f", default {constant_value(constant)}" if constant.has_default and constant.raw is None else ""
    return constant.name, f"{constant.meaning} ({constant.domain}{default})"


def _placeholders(spec: Spec) -> Iterator[str]:
    """The values in place of constants without a value, since the domains and defaults listed below may depend on
    them.
    """
    missing = [constant for constant in spec.constants.values() if constant.raw is None and not constant.has_default]
    if missing:
        values = ", ".join(f"{constant.name} = {constant_value(constant)}" for constant in missing)
        yield f"  Listed with {values}, since no model gives a value (--set {missing[0].name}=...)."


def _signature(action: Action) -> str:
    parameters = [f"{parameter.name} in {_domain(parameter)}" for parameter in action.parameters]
    return f"{action.title}({', '.join(parameters)})" if parameters else action.title


def _domain(parameter: Parameter) -> str:
    match parameter.type:
        case IdentType(cls) | EnumType(cls) | PairType(IdentType(cls)):
            pair = isinstance(parameter.type, PairType)
            return f"Pair[{cls.__name__}]" if pair else cls.__name__
        case other:
            return describe(other)


def _about(action: Action) -> str:
    receives = f"receives {action.message.__name__}; " if action.message is not None else ""
    fair = "" if action.fairness is Fairness.NONE else f" ({action.fairness.value} fairness)"
    return f"{receives}{first_line(action.doc)}{fair}"


def _view(view: View) -> tuple[str, str]:
    return view.name, "drops " + ", ".join(sorted(view.dropped))


def _model(model: ModelFile) -> Iterator[tuple[str, str]]:
    yield model.name, model.description
    if model.title:
        yield "", model.title
    if model.expect:
        yield "", f"expected: {_expected(model)} (origin: {model.expect['origin']})"


def _expected(model: ModelFile) -> str:
    expect = model.expect or {}
    figures = [f"{expect[key]:,} {key}" for key in ("generated", "distinct") if isinstance(expect.get(key), int)]
    shown = [str(expect["result"])]
    shown += [f"of {expect['invariant']}"] if "invariant" in expect else []
    shown += [f"in {expect['trace_length']} states"] if "trace_length" in expect else []
    figures += [f"depth {expect['depth']}"] if "depth" in expect else []
    return " ".join(shown) + "".join(f", {figure}" for figure in figures)
