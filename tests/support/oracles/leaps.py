"""The edges of a small spec with constraints of both kinds, as its table has them and as the interpreter does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
from support.runs.kept import checked, kept, listed, written_by_threads
from support.specs.small import model_of

from kmc.actions.relation import NextStateRelation
from kmc.invariants.properties import holds
from kmc.tables.write_tables import Wanted

LEAPS = """
class State(Record):
    n: Int(0, 6)

@spec.init
def init():
    yield State(n=0)

@spec.action
def leap(st, by: Int(1, 3)):
    for _ in ways(by > 0, st.n < 3):
        if st.n + by <= 6:
            yield st.set(n=st.n + by)

@spec.action
def back(st):
    yield st.set(n=0)

@spec.constraint
def Small(st):
    return st.n < 6

@spec.action_constraint
def Slow(st, nxt):
    return nxt.n != st.n + 3
"""

Edges = Counter[tuple[int, str, int]]
"""How often TLC counts a step: by the fingerprints of its ends, and its action."""


def edges_of_leaps(folder: Path, cfg: str) -> tuple[Edges, Edges]:
    """The edges that the table has of the model with these constraints, and the steps of the interpreter."""
    model = model_of(folder, LEAPS, cfg)
    checked(model, folder)
    found, wanted = Edges(), Edges()
    spec = model.spec
    relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
    with kept(model, folder) as (compiled, states):
        written_by_threads(compiled.spec, states, folder / "t", Wanted(edges=True), threads=1, part_rows=1 << 20)
        for level in range(1, len(states.levels) + 1):
            for fingerprint, state in listed(compiled, states, level, 1 << 17):
                for action, _, target in relation.steps(state):
                    if not all(holds(each, spec.files, target) for each in model.constraints):
                        continue
                    if all(holds(each, spec.files, state, target) for each in model.action_constraints):
                        wanted[fingerprint, action.title, compiled.record(target).fingerprint] += 1
    for row in pq.read_table(folder / "t" / "edges").to_pylist():
        found[row["source_fingerprint"], row["action"], row["target_fingerprint"]] += row["times"]
    return found, wanted
