"""Fingerprints under symmetry are one to one with orbits, whatever types hold the permuted members."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.drawing.states import random_state
from support.oracles.orbits import ZOO, orbit_faults
from support.oracles.steps import kernels_in_python, kernels_of, level_states
from support.specs.small import BALLOT, TOKENS, model_of

from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import Const, Function, Return, Var
from kmc.compiler.symmetry import canonical, fingerprint_kernels, permute, project, signatures
from kmc.compiler.symmetry.canonical import sum_of
from kmc.compiler.view_order import fingerprint_order
from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import compile_model
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.lang.seqs import seq_literal
from kmc.reference.search import Search
from kmc.result import Limits
from kmc.runtime.state_layout import key_count, layout_of

SIZES = {
    "two": "Server = {a, b} Value = {v}",
    "three": "Server = {a, b, c} Value = {v, w}",
    "four": "Server = {a, b, c, d} Value = {v, w}",
    "five": "Server = {a, b, c, d, e} Value = {v, w, u}",
}


def zoo(folder: Path, size: str, rest: str) -> Model:
    return model_of(folder, ZOO, f"CONSTANTS {SIZES[size]} {rest}")


def drawn_states(model: Model, count: int) -> list[Any]:
    """Random states, the same in every run; also with most fields as in the first state, so that members look alike."""
    chance = Random(count)
    first = first_state(model)
    fields = list(model.spec.state_class.fields)
    found: list[Any] = [first]
    for _ in range(count):
        state = random_state(model, chance)
        kept = chance.sample(fields, chance.randint(0, 3))
        found.append(first.set(**{name: getattr(state, name) for name in kept}) if chance.random() < 0.5 else state)
    return found


def first_state(model: Model) -> Any:
    """The initial state, in which all members are alike."""
    return level_states(model, Limits(states=1), at_most=1)[0]


def ring(model: Model) -> Any:
    """Each server votes for the next: all look alike, and not every permutation leaves the state as it is."""
    first = first_state(model)
    servers = list(first.nodes)
    nodes = first.nodes
    for server, following in zip(servers, servers[1:] + servers[:1], strict=True):
        nodes = nodes.set(server, nodes[server].set(voted_for=following))
    return first.set(nodes=nodes)


def pairs(model: Model) -> Any:
    """Servers vote for each other in pairs: all look alike, and two that are neighbours may be exchanged or not."""
    first = first_state(model)
    servers = list(first.nodes)
    nodes = first.nodes
    for one, other in zip(servers[::2], servers[1::2], strict=True):
        nodes = nodes.set(one, nodes[one].set(voted_for=other)).set(other, nodes[other].set(voted_for=one))
    return first.set(nodes=nodes)


def exchanged(model: Model) -> list[Any]:
    """Two states whose messages have exchanged parts: as sums over words they are the same."""
    cls: Any = model.spec.state_class
    first = first_state(model)
    answer, entry = model_types(cls)
    server = cls.fields["leader"].alternatives[0].cls.members[0]
    ask = cls.fields["net"].messages[0].cls(source=server, dest=server, n=0)

    def message(epochs: int, mark: int) -> Any:
        return answer(
            source=server, dest=server, to=ask, quorum=frozenset(),
            entries=seq_literal([entry(epoch=epochs, value=None)]),
            mark=seq_literal([entry(epoch=mark, value=None)] * 15),
        )  # fmt: skip

    return [
        first.set(net=first.net.send_all({message(0, 0), message(1, 1)})),
        first.set(net=first.net.send_all({message(0, 1), message(1, 0)})),
    ]


def asked(model: Model) -> list[Any]:
    """States in which only a message tells the values apart, beside others that name servers and no value."""
    cls: Any = model.spec.state_class
    first = first_state(model)
    answer, entry = model_types(cls)
    ask = cls.fields["net"].messages[0].cls
    servers, value = list(first.nodes), next(iter(first.owner))
    request = ask(source=servers[0], dest=servers[0], n=0)
    log = seq_literal([entry(epoch=1, value=value)])
    told = answer(source=servers[0], dest=servers[0], to=request, quorum=frozenset(), entries=log, mark=seq_literal([]))
    asks = [ask(source=source, dest=dest, n=n) for source in servers for dest in servers for n in (0, 1)]
    return [first.set(net=first.net.send_all({told, one})) for one in asks[::3]]


def model_types(cls: Any) -> tuple[Any, Any]:
    """The classes of a wide message and of an entry."""
    answer = cls.fields["net"].messages[1].cls
    return answer, answer.fields["entries"].element.cls


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "rest", "count"),
    [
        ("two", "SYMMETRY both", 30),
        ("three", "SYMMETRY values", 30),
        ("three", "SYMMETRY both", 40),
        ("three", "SYMMETRY both VIEW forgetful", 30),
        ("two", "SYMMETRY both VIEW timeless", 30),
        ("four", "SYMMETRY both", 10),
        ("five", "SYMMETRY servers", 3),
    ],
)
def test_fingerprints_are_those_of_orbits(tmp_path: Path, size: str, rest: str, count: int) -> None:
    model = zoo(tmp_path, size, rest)
    states = [*drawn_states(model, count), ring(model), *exchanged(model), *asked(model)[:2]]
    assert list(orbit_faults(kernels_of(model), states))[:2] == []


def test_fingerprints_of_two_members_are_those_of_orbits(tmp_path: Path) -> None:
    model = zoo(tmp_path, "two", "SYMMETRY both")
    states = [*drawn_states(model, 8), ring(model), *exchanged(model), *asked(model)[:2]]
    assert list(orbit_faults(kernels_in_python(model), states))[:2] == []


def no_sequences(self: Any, words: Any, declared: Any) -> Any:
    """A permutation that leaves out sequences."""
    return words


def by_name(self: Any, cls: Any, index: Any) -> Any:
    """A signature that tells members by their number."""
    return x.binary("and", index, x.ONE)


def no_next_order(prefix: str, members: int) -> Function:
    """Only one order of members that look alike is tried."""
    return Function(f"{prefix}_next", (), ("order", "same"), (Return(Const(-1)),))


def skip_always(self: Any, code: Any, same: Any) -> None:
    """All that look alike may be exchanged."""
    code.emit(Return(Var("best")))


def first_class_only(code: Any, words: Any, declared: Any, marks: Any) -> Any:
    """A signature in which another type keeps its names."""
    own = {cls: mark for cls, mark in marks.items() if mark is not None}
    return signatures_projected(code, words, declared, own)


def named_if_odd(words: Any, declared: Any, cls: Any, member: Any, classes: Any) -> Any:
    """A message counts for members by their number, whether or not it names them."""
    return x.binary("and", member, x.ONE)


def one_exchange(code: Any, order: Any, low: Any, last: Any) -> Any:
    """A group is not rotated: only its first two members are exchanged."""
    return order


def summed(entry: Any, number: int, base: int = 0) -> Any:
    """A hash of wide elements that adds their words."""
    return sum_of([x.mix(word, Const(base + number + k)) for k, word in enumerate(entry)])


def in_place(code: Any, key: Any, tables: Any) -> Any:
    """Keys of maps and members of sets stay where they are."""
    return [Const(number) for number in range(key_count(key))]


signatures_projected = project.projected
PLANTED = {
    "a field left out of the permutation": (permute.Permutation, "_sequence", no_sequences),
    "keys that stay": (permute, "_image_numbers", in_place),
    "a signature that is not invariant": (project.Projection, "member", by_name),
    "a signature that leaves messages out by their number": (signatures, "refers_to", named_if_odd),
    "a signature with names of another type": (signatures, "projected", first_class_only),
    "one order among equals": (canonical, "next_order_function", no_next_order),
    "equals that may not be exchanged": (canonical.CanonicalPermutation, "_skip_if_interchangeable", skip_always),
    "wide elements as sums": (fingerprint_kernels, "entry_term", summed),
}


@pytest.mark.slow
@pytest.mark.parametrize("rotates", [True, False])
def test_members_in_pairs_are_interchangeable_only_as_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rotates: bool
) -> None:
    """The exchange of the first two members leaves the state as it is; only the rotation of all four does not."""
    if not rotates:
        monkeypatch.setattr(canonical, "_rotated", one_exchange)
    model = zoo(tmp_path, "four", "SYMMETRY servers")
    assert any(orbit_faults(kernels_of(model), [pairs(model)])) is not rotates


@pytest.mark.slow
@pytest.mark.parametrize("title", PLANTED)
def test_a_planted_mistake_is_caught(title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name, mistake = PLANTED[title]
    monkeypatch.setattr(place, name, mistake)
    model = zoo(tmp_path, "three", "SYMMETRY both")
    states = [ring(model), *exchanged(model), *asked(model)]
    assert any(orbit_faults(kernels_in_python(model), states))


def every_bit(declared: Any, classes: Any) -> tuple[int, ...]:
    """A signature from all bits of an item, those that name members among them."""
    return (-1,) * layout_of(declared).words


@pytest.mark.slow
def test_a_signature_takes_only_bits_that_no_permutation_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = zoo(tmp_path, "three", "SYMMETRY servers")
    states = [*drawn_states(model, 8), ring(model)]
    assert list(orbit_faults(kernels_in_python(model), states))[:2] == []
    monkeypatch.setattr(signatures, "unmoved_bits", every_bit)
    assert any(orbit_faults(kernels_in_python(model), states))


def whole_words(self: Any) -> dict[int, int]:
    """The rank of dropped fields, but of all that shares words with them too."""
    return dict.fromkeys(dropped_masks(self), (1 << 64) - 1)


dropped_masks = fingerprint_kernels._FingerprintKernels._dropped_masks


def test_a_rank_of_dropped_fields_reads_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = zoo(tmp_path, "two", "SYMMETRY both VIEW timeless")
    states = [*drawn_states(model, 4), ring(model)]
    assert list(orbit_faults(kernels_in_python(model), states))[:2] == []
    monkeypatch.setattr(fingerprint_kernels._FingerprintKernels, "_dropped_masks", whole_words)
    assert any(orbit_faults(kernels_in_python(model), states))


WHOLE = {
    "four clients and two tokens": (TOKENS, "CONSTANTS Client = {a, b, c, d} Token = {t, u} SYMMETRY both"),
    "two clients and four tokens": (TOKENS, "CONSTANTS Client = {a, b} Token = {t, u, v, w} SYMMETRY both"),
    "six clients": (TOKENS, "CONSTANTS Client = {a, b, c, d, e, f} Token = {t} SYMMETRY clients"),
    "three voters": (BALLOT, "CONSTANT Server = {a, b, c} SYMMETRY servers"),
    "three voters and a view": (BALLOT, "CONSTANT Server = {a, b, c} SYMMETRY servers VIEW forgetful"),
    "three voters without a total": (BALLOT, "CONSTANT Server = {a, b, c} SYMMETRY servers VIEW uncounted"),
}


@pytest.mark.parametrize("title", WHOLE)
def test_orbits_are_as_many_as_by_brute_force(title: str, tmp_path: Path) -> None:
    source, cfg = WHOLE[title]
    model = model_of(tmp_path, source, cfg)
    limits = Limits(states=1500)
    wanted, found = Search(model, limits, view_order=fingerprint_order).run(), check_native(model, limits)
    assert (found.levels, found.generated_by_action) == (wanted.levels, wanted.generated_by_action)
    states = level_states(model, Limits(states=150), at_most=150)
    assert list(orbit_faults(kernels_of(model), states))[:2] == []


def test_more_members_than_a_table_holds_are_refused(tmp_path: Path) -> None:
    names = [", ".join(f"{letter}{number}" for number in range(9)) for letter in "ct"]
    cfg = f"CONSTANTS Client = {{{names[0]}}} Token = {{{names[1]}}} SYMMETRY both"
    with pytest.raises(SpecError, match="16 members") as caught:
        compile_model(model_of(tmp_path, TOKENS, cfg))
    assert caught.value.code == "KMC822"
