"""A report as Markdown: models and their counts, findings, mutants, the evidence for each property, and coverage.

Every statement comes from a record of a run. Mutants and findings do not count for coverage, because the states that a
weakened spec reaches say nothing about the spec.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kmc.amounts import bytes_in_words, seconds_in_words
from kmc.checking.collision_odds import odds_text
from kmc.cli.reports.report_records import BOUNDS_OF_THE_MODEL
from kmc.invariants.kinds import Role, kind_of

Records = Mapping[str, Mapping[str, Any]]


def report_text(
    spec: str, doc: str, records: Records, names: Mapping[str, Sequence[str]], outdated: Collection[str] = ()
) -> str:
    """The whole report; `names` has the declarations of the spec under "properties", "temporal", "witnessed" and
    "actions".

    `outdated` are the records that an earlier version of the spec or of the model was measured for.
    """
    blocks = [
        [f"# {spec}: results", "", doc, "", f"Written by `kmc report {spec}`, never by hand; the data: `{spec}.json`."],
        _models(_of_kind(records, "model")),
        _findings(_of_kind(records, "finding")),
        _mutants(_of_kind(records, "mutant")),
        _properties(records, names["properties"], names["temporal"]),
        _coverage(_of_kind(records, "model"), names["actions"], names["witnessed"]),
        _origins(records, outdated),
    ]
    return "\n".join("\n".join([*block, ""]) for block in map(list, blocks) if block)


def _of_kind(records: Records, kind: str) -> dict[str, Mapping[str, Any]]:
    return {name: record for name, record in records.items() if record["kind"] == kind}


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _models(records: Records) -> Iterator[str]:
    yield "## Models"
    yield ""
    counts = ("generated", "distinct", "depth", "expected")
    header = ("model", "result", "odds of a missed state", *counts, "CPU time", "memory")
    yield from _table(header, [_model_row(name, record) for name, record in records.items()])
    yield ""
    yield from (f"- `{name}`: {record['description']}." for name, record in records.items())


def _model_row(name: str, record: Mapping[str, Any]) -> tuple[str, ...]:
    if "failed" in record:
        return (f"`{name}`", f"failed: {record['failed'][-1]}", *[""] * 7)
    return (
        f"`{name}`",
        _verdict(record),
        _odds(record),
        f"{record['generated']:,}",
        f"{record['distinct']:,}",
        str(record["depth"]),
        _agreement(record),
        seconds_in_words(record["cpu_seconds"]),
        _room(record),
    )


def _room(record: Mapping[str, Any]) -> str:
    """The largest resident memory of the check, and the disk that its files take at the end if it was in shards."""
    shards = record.get("shards")
    disk = f", disk {bytes_in_words(shards['disk_bytes'])}" if shards else ""
    return bytes_in_words(record["peak_memory_bytes"]) + disk


def _odds(record: Mapping[str, Any]) -> str:
    """The upper bound on the odds that a collision of fingerprints hid a state."""
    wide = ", 128 bits" if record.get("fingerprint_bits") == 128 else ""
    return odds_text(record["collision_bound"]) + wide


def _is_whole(record: Mapping[str, Any]) -> bool:
    """Whether every reachable state was explored: no bound, no violation and no constraint cut the graph."""
    return record["result"] == "ok" and not _cut(record)


def _cut(record: Mapping[str, Any]) -> str:
    """The clause on what the constraints left out, to follow a verdict; "" for nothing."""
    names = " or ".join(record["asked"]["constraints"])
    count = record.get("cut")
    if not names or count == 0:
        return ""
    return f" without breaking {names}" + (f", {count:,} generated states outside" if count else "")


def _verdict(record: Mapping[str, Any]) -> str:
    match record["result"], record["bound"]:
        case "ok", _:
            return "holds, whole graph" if _is_whole(record) else f"holds{_cut(record)}"
        case "bound reached", "depth":
            return f"holds up to level {record['depth']}{_cut(record)}"
        case "bound reached", "constraint":
            return f"not refuted{_cut(record)}"
        case "bound reached", bound:
            explored = record["depth"] - (record["left"] > 0)
            return f"stopped by {bound}; holds up to level {explored}{_cut(record)}"
        case result, _:
            return f"{result} of {record['invariant']}" if record["invariant"] else str(result)


def _agreement(record: Mapping[str, Any]) -> str:
    """The comparison with the manifest, and whether its figures come from TLC or from kmc itself."""
    expect = record["expect"]
    if expect is None:
        return "nothing expected"
    if record["differences"]:
        return "DIFFERS: " + "; ".join(record["differences"])
    if record["bound"] not in BOUNDS_OF_THE_MODEL:
        return "not compared"
    return "equal to TLC's" if expect["origin"].startswith("TLC") else "as recorded from kmc"


def _findings(records: Records) -> Iterator[str]:
    if not records:
        return
    yield "## Findings"
    yield ""
    yield "Claims that the spec breaks, each with a shortest trace."
    for name, record in records.items():
        yield ""
        yield f"### `{name}`: {record['title']}"
        yield ""
        yield f"{record['description']}."
        yield ""
        yield _outcome(record)
        yield from _steps(record)


def _outcome(record: Mapping[str, Any]) -> str:
    if "failed" in record:
        return f"The check failed: {record['failed'][-1]}"
    if record["invariant"] is None:
        return f"NOT SHOWN: {_survives(record)}"
    return f"{record['invariant']} fails in {record['trace_length']} states; {_agreement(record)}."


def _steps(record: Mapping[str, Any]) -> Iterator[str]:
    if record.get("trace"):
        yield ""
        yield from (f"{position}. `{step}`" for position, step in enumerate(record["trace"], start=2))


def _mutants(records: Records) -> Iterator[str]:
    if not records:
        return
    yield "## Mutants"
    yield ""
    yield "In each a constant weakens the spec, and a property fails: it does not hold vacuously."
    yield ""
    rows = []
    for name, record in records.items():
        broken, length = record.get("invariant"), record.get("trace_length")
        shown = f"{broken}, {length} states" if broken else f"NOT KILLED: {_lives(record)}"
        rows.append((f"`{name}`", record["title"], shown, f"{record.get('distinct') or 0:,}"))
    yield from _table(("mutant", "what is weakened", "fails", "distinct states"), rows)


def _lives(record: Mapping[str, Any]) -> str:
    return str(record["failed"][-1]) if "failed" in record else _survives(record)


def _survives(record: Mapping[str, Any]) -> str:
    return f"{_verdict(record)}, odds of a missed state at most {_odds(record)}"


def _properties(records: Records, names: Sequence[str], temporal: Sequence[str]) -> Iterator[str]:
    yield "## Properties"
    yield ""
    rows = []
    asked = {name for record in records.values() for name, _ in _verdicts(record, record["kind"])}
    unasked = [name for name in temporal if name not in asked]
    for name in (*names, *(name for name in temporal if name in asked)):
        held = [record for record in records.values() if (name, "holds") in _verdicts(record, "model")]
        whole = sum(map(_is_whole, held))
        broken = [f"`{model}`" for model, record in records.items() if record.get("invariant") == name]
        rows.append((name, str(whole), str(len(held) - whole), ", ".join(broken) or "nowhere"))
    header = ("property", "models whose whole graph it holds in", "models in which it holds as far as they went")
    yield from _table((*header, "fails in"), rows)
    if unasked:
        yield ""
        yield f"Temporal properties that no model of this report checks: {', '.join(unasked)}."


def _verdicts(record: Mapping[str, Any], kind: str) -> set[tuple[str, str]]:
    if record["kind"] != kind or "failed" in record:
        return set()
    return {(prop["name"], prop["verdict"]) for prop in record["properties"]}


def _coverage(records: Records, actions: Sequence[str], witnessed: Sequence[str]) -> Iterator[str]:
    ran = {name: record for name, record in records.items() if "failed" not in record}
    yield "## Coverage by the models"
    yield ""
    rows = []
    for action in actions:
        fired = {name: record["generated_by_action"].get(action, 0) for name, record in ran.items()}
        most = max(fired, key=lambda name: fired[name], default="")
        count = fired.get(most, 0)
        shown = f"{count:,} in `{most}`" if count else "NEVER FIRED"
        rows.append((action, str(sum(1 for generated in fired.values() if generated)), shown))
    yield from _table(("action", "models in which it fires", "states generated, at most"), rows)
    if witnessed:
        yield ""
        yield from _table(
            (kind_of(Role.WITNESSED, 1).noun, "reached in"), [(name, _reaching(name, ran)) for name in witnessed]
        )


def _reaching(prop: str, records: Records) -> str:
    reached = [f"`{name}`" for name, record in records.items() if prop not in record["unreached_goals"]]
    return ", ".join(reached) or "NEVER REACHED"


def _origins(records: Records, outdated: Collection[str]) -> Iterator[str]:
    """The versions of kmc and the machines that gave these figures; one line for each pair, and what has changed
    since.
    """
    yield "## Origin"
    yield ""
    models_of: dict[str, list[str]] = {}
    for name, record in records.items():
        commit, machine = record["commit"], record["machine"]
        at = "no commit" if commit is None else commit["id"][:7] + (" with changes" if commit["changed"] else "")
        memory = bytes_in_words(machine["memory_bytes"])
        origin = f"kmc {machine['kmc']} at {at}, {machine['cpu']}, {machine['cores']} cores, {memory}"
        models_of.setdefault(origin, []).append(name)
    for origin, names in models_of.items():
        yield f"- {origin}: {', '.join(f'`{name}`' for name in names)}."
    changed = [f"`{name}`" for name in records if name in outdated]
    if changed:
        yield f"- Measured before the spec or the model last changed: {', '.join(changed)}."
