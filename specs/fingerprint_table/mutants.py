"""Constants that each break one rule of the table, so that a property must fail; all are off.

A constant that is off leaves no code in the compiled spec.
"""

from kmc.lang import Bool, constant

StoresWithoutSwap = constant(
    "StoresWithoutSwap", Bool, "Mutant: an empty slot is written by a plain store, not by a compare-and-swap", False
)
LostSwapIsKnown = constant(
    "LostSwapIsKnown", Bool, "Mutant: a lost compare-and-swap counts as a fingerprint that was there", False
)
LostSwapGoesOn = constant(
    "LostSwapGoesOn", Bool, "Mutant: after a lost compare-and-swap the next slot is tried, without a comparison", False
)
NeverReadsAgain = constant(
    "NeverReadsAgain", Bool, "Mutant: after a lost compare-and-swap the same slot is tried again", False
)
FirstWordSuffices = constant(
    "FirstWordSuffices", Bool, "Mutant: equal first words are taken for equal fingerprints of two words", False
)
StoresSecondWord = constant(
    "StoresSecondWord", Bool, "Mutant: a second word is written by a plain store, not by a compare-and-swap", False
)
FirstWordOwnsSlot = constant(
    "FirstWordOwnsSlot",
    Bool,
    "Mutant: a slot belongs to the thread that wrote its first word, and others pass it before it has a second",
    False,
)
GrowsWhileInserting = constant(
    "GrowsWhileInserting", Bool, "Mutant: the table grows without waiting for the other threads", False
)
MovesAnywhere = constant(
    "MovesAnywhere", Bool, "Mutant: `move` writes into every home line, also into those of other threads", False
)
KeepsNoReserve = constant(
    "KeepsNoReserve", Bool, "Mutant: fingerprints count once they are in the table, not before", False
)
ComparesBehindEmpty = constant(
    "ComparesBehindEmpty", Bool, "Mutant: a word behind an empty one is compared, in a table of two words", False
)
