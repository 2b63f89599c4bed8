r"""The operators that kmc implements itself: those of the language, and those of the standard modules.

The standard modules are known by their names and never read from files, as TLC replaces them, too. `Bags` is the
exception: kmc reads it from a text of its own. Modules of lemmas for the proof system are known and have no operators
here, since proofs are skipped. Operators that kmc does not evaluate (files, randomness, real numbers) are known as
well: they are refused where they are used.
"""

from __future__ import annotations

from dataclasses import dataclass

Profile = tuple[int, ...]
"""The arities of an operator's parameters: 0 for values, 2 for `Op(_, _)`."""


@dataclass(frozen=True, slots=True)
class BuiltinOperator:
    """An operator that kmc implements, of a standard module or, with an empty `module`, of the language."""

    name: str
    module: str
    profile: Profile


@dataclass(frozen=True, slots=True)
class StandardModule:
    """A standard module: the modules that it extends, and its operators."""

    name: str
    extends: tuple[str, ...]
    operators: dict[str, BuiltinOperator]


_LANGUAGE = (
    r"BOOLEAN/0 STRING/0 =/2 #/2 ~/1 =>/2 <=>/2 /\/2 \//2 \in/2 \notin/2 \subseteq/2 \union/2 \intersect/2 \/2 \X/2 "
    r"SUBSET/1 UNION/1 DOMAIN/1 \cdot/2 -+->/2 ~>/2 ENABLED/1 UNCHANGED/1 []/1 <>/1 '/1"
)

# Each row: module, modules that it extends, operators with the number of their parameters. `Op(0,2)` has an operator
# of two parameters as its second parameter.
_MODULES = (
    ("Naturals", "", r"Nat/0 +/2 -/2 */2 ^/2 </2 >/2 <=/2 >=/2 %/2 \div/2 ../2"),
    ("Integers", "Naturals", "Int/0 -./1"),
    ("Reals", "Integers", "Real/0 //2 Infinity/0"),
    ("Sequences", "", r"Seq/1 Len/1 \o/2 Append/2 Head/1 Tail/1 SubSeq/3 SelectSeq(0,1)"),
    ("FiniteSets", "", "IsFiniteSet/1 Cardinality/1"),
    (
        "TLC",
        "",
        "Print/2 PrintT/1 Assert/2 JavaTime/0 TLCGet/1 TLCSet/2 :>/2 @@/2 Permutations/1 SortSeq(0,2) RandomElement/1 "
        "Any/0 ToString/1 TLCEval/1",
    ),
    (
        "TLCExt",
        "",
        "AssertEq/2 AssertError/2 TLCGetOrDefault/2 TLCGetAndSet(0,2,0,0) Trace/0 CounterExample/0 ToTrace/1 "
        "TLCModelValue/1 TLCDefer/1 TLCNoOp/1 PickSuccessor/1 TLCCache/2 TLCFP/1 TLCEvalDefinition/1",
    ),
    ("Toolbox", "", "_TETrace/0 _TEPosition/0"),
    ("Randomization", "", "RandomSubset/2 RandomSetOfSubsets/3 RandomSubsetSet/2 TestRandomSetOfSubsets/3"),
    (
        "Json",
        "",
        "ToJson/1 ToJsonArray/1 ToJsonObject/1 JsonSerialize/2 JsonDeserialize/1 ndJsonSerialize/2 ndJsonDeserialize/1",
    ),
    (
        "IOUtils",
        "",
        "IOSerialize/3 IODeserialize/2 Serialize/3 Deserialize/2 IOExec/1 IOEnvExec/2 IOExecTemplate/2 "
        "IOEnvExecTemplate/3 IOEnv/0 IOEnvGet/1 IOEnvPermit/1 atoi/1 zeroPadN/2",
    ),
    ("CSV", "", "CSVWrite/3 CSVWriteRecord/4 CSVRead/3 CSVRecords/1"),
    ("Statistics", "Naturals", "ChiSquare/3"),
)

PROOF_MODULES = {
    "TLAPS": "",
    "NaturalsInduction": "Integers",
    "WellFoundedInduction": "NaturalsInduction",
    "SequenceTheorems": "Sequences",
    "FiniteSetTheorems": "FiniteSets Integers",
    "FunctionTheorems": "FiniteSets Integers",
    "BagsTheorems": "",
    "GraphTheorem": "",
    "SequencesExtTheorems": "Sequences Integers",
    "FiniteSetsExtTheorems": "FiniteSets Integers",
    "FoldsTheorems": "FiniteSets",
    "QuorumTheorems": "FiniteSets Integers",
    "GraphTheorems": "Sequences",
}
"""Modules of lemmas with the standard modules that they extend: nothing else of them is needed to check a model."""


def _operator(text: str, module: str) -> BuiltinOperator:
    if text.endswith(")"):
        name, _, arities = text[:-1].partition("(")
        return BuiltinOperator(name, module, tuple(int(arity) for arity in arities.split(",")))
    return BuiltinOperator(text[:-2], module, (0,) * int(text[-1]))


def _operators(texts: str, module: str) -> dict[str, BuiltinOperator]:
    found = [_operator(text, module) for text in texts.split()]
    return {operator.name: operator for operator in found}


LANGUAGE = _operators(_LANGUAGE, "")
"""The operators that every module has."""

STANDARD_MODULES = {
    **{
        name: StandardModule(name, tuple(extends.split()), _operators(texts, name)) for name, extends, texts in _MODULES
    },
    **{name: StandardModule(name, tuple(extends.split()), {}) for name, extends in PROOF_MODULES.items()},
}
"""The modules that are known without a file, by name."""


def modules_with(name: str) -> tuple[str, ...]:
    """Return the standard modules that define an operator."""
    return tuple(module for module, standard in STANDARD_MODULES.items() if name in standard.operators)
