"""The part `inputs`: command lines, model files, expressions and traces that no one would write: never a traceback."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from random import Random

from attack.checks import said
from attack.drawing import drawn
from attack.hostile_words import COMMANDS, EXPRESSIONS, OPTIONS, STRANGE, WORDS
from attack.kmc_runs import run_here

ROUNDS = 25


def attack_inputs(seed: int, count: Callable[[int], None], kept: Path | None) -> list[str]:
    """Give kmc strange inputs of all kinds around one drawn spec; the answers that are mistakes of kmc."""
    chance = Random(seed)
    found: list[str] = []
    with tempfile.TemporaryDirectory(prefix="kmc-attack-") as name, chdir(name):
        spec = drawn(seed)
        folder = Path("drawn")
        folder.mkdir()
        (folder / "spec.py").write_text(spec.source(), encoding="utf-8")
        (folder / "models.toml").write_text(spec.manifest(), encoding="utf-8")
        run_here("check", "drawn", "m", "--engine", "python", "--run-dir", "runs")
        traces = sorted(Path("runs").glob("*/trace.*"))
        for _ in range(ROUNDS):
            kind = chance.choice([_line, _line, _line, _toml, _cfg, _expression, *([_trace] if traces else [])])
            words = kind(chance, traces)
            run = run_here(*words)
            count(1)
            if run.is_broken:
                found.append(f"kmc {' '.join(map(_shown, words))}: {said(run)}{_files_of(words)}")
    return found


def _shown(word: str) -> str:
    return repr(word) if len(word) < 100 else f"{word[:5]!r}...({len(word)} characters)"


def _files_of(words: list[str]) -> str:
    paths = [Path(word) for word in words if word.startswith("strange")]
    return "".join(f"\n--- {path}\n{path.read_text(encoding='utf-8', errors='replace')[:3000]}" for path in paths)


def _line(chance: Random, traces: list[Path]) -> list[str]:
    """Return a command line of words that may not belong together; none that runs for long or opens a page."""
    pool = [WORDS, WORDS, OPTIONS, OPTIONS, STRANGE, COMMANDS, tuple(map(str, traces)) or WORDS]
    words = [chance.choice(COMMANDS), *(chance.choice(chance.choice(pool)) for _ in range(chance.randint(0, 6)))]
    ending = ["--timeout", "5s"] if words[0] in ("check", "simulate") else []
    return [*words, *ending]


def _mangled(text: str, chance: Random) -> str:
    """Return a text with some of its pieces lost, doubled, swapped or replaced."""
    pieces = [piece for piece in _pieces(text) if piece]
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(pieces))
        match chance.choice(["lost", "doubled", "swapped", "strange", "word"]):
            case "lost":
                pieces[at] = ""
            case "doubled":
                pieces[at] *= 2
            case "swapped":
                other = chance.randrange(len(pieces))
                pieces[at], pieces[other] = pieces[other], pieces[at]
            case "strange":
                pieces[at] = chance.choice(STRANGE)
            case "word":
                pieces[at] = chance.choice(WORDS)
    return "".join(pieces)


def _pieces(text: str) -> list[str]:
    found, last = [""], ""
    for sign in text:
        kind = "w" if sign.isalnum() or sign == "_" else sign
        found += [""] if kind != last else []
        found[-1] += sign
        last = kind
    return found


def _toml(chance: Random, _: list[Path]) -> list[str]:
    strange = Path("strange")
    strange.mkdir(exist_ok=True)
    (strange / "spec.py").write_bytes(Path("drawn/spec.py").read_bytes())
    text = _mangled(Path("drawn/models.toml").read_text(encoding="utf-8"), chance)
    (strange / "models.toml").write_text(text, encoding="utf-8")
    Path("strange.toml").write_text(text, encoding="utf-8")
    return ["check", "./strange", "m", "--engine", "python", "--timeout", "5s", "--no-run-dir"]


CFG = """CONSTANTS
    Server = { s1, s2 }
    Item = {v1}
INVARIANTS Inv0 Inv1
PROPERTY Live0
CONSTRAINT Near0
SYMMETRY Sym
VIEW View
CHECK_DEADLOCK FALSE
\\* a comment
(* another (* nested *) *)
SPECIFICATION Spec
"""


def _cfg(chance: Random, _: list[Path]) -> list[str]:
    path = Path("strange.cfg")
    lines = [line for line in CFG.splitlines(keepends=True) if chance.random() < 0.7]
    path.write_text(_mangled("".join(lines) or CFG, chance), encoding="utf-8")
    return ["check", "drawn", "strange.cfg", "--engine", "python", "--timeout", "5s", "--no-run-dir"]


def _expression(chance: Random, traces: list[Path]) -> list[str]:
    text = chance.choice(EXPRESSIONS)
    if chance.random() < 0.5:
        text = _mangled(
            f"{text} {chance.choice(['==', 'and', '+', 'in', 'if', ','])} {chance.choice(EXPRESSIONS)}", chance
        )
    place = [str(chance.choice(traces))] if traces and chance.random() < 0.3 else ["drawn", "m"]
    return ["eval", *place, text]


def _trace(chance: Random, traces: list[Path]) -> list[str]:
    source = chance.choice([path for path in traces if path.suffix == ".json"])
    path = Path("strange" + "".join(source.suffixes))
    text = source.read_text(encoding="utf-8")
    path.write_text(_reshaped(text, chance) if chance.random() < 0.5 else _mangled(text, chance), encoding="utf-8")
    command = chance.choice(
        [["replay"], ["trace"], ["trace", "--format", "itf"], ["trace", "--format", "html"], ["trace", "--table"]]
    )
    given = ["--spec", "drawn", "--model", "m"] if chance.random() < 0.6 else []
    return [*command, str(path), *given]


def _reshaped(text: str, chance: Random) -> str:
    """Return JSON in which one value is another."""
    found = json.loads(text)
    holder, key = found, chance.choice(list(found))
    while chance.random() < 0.85 and isinstance(holder[key], dict | list) and holder[key]:
        holder = holder[key]
        key = chance.choice(list(holder)) if isinstance(holder, dict) else chance.randrange(len(holder))
    holder[key] = chance.choice(
        [None, 0, -1, "", "x", [], {}, [[]], {"#bigint": "x"}, {"#map": 1}, {"#set": [1, [1]]}, True, 1e999]
    )
    return json.dumps(found)
