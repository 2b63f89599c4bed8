"""The errors that evaluating a module can meet, one function for each code.

The functions return errors without a place; the closure of the expression adds it (`KmcError.at`). Values are shown in
TLA+, cut to a line.
"""

from __future__ import annotations

from kmc.errors import EvaluationError
from kmc.tla.values.kinds import Value
from kmc.tla.values.order import described


def wrong_kind(operator: str, needed: str, value: Value) -> EvaluationError:
    """Return the error of an operand of the wrong kind."""
    return EvaluationError(
        "KMC258",
        f"'{operator}' needs {needed}, but this operand is {described(value)}",
        help="evaluate the operand in the state of the error to see where its value comes from",
    )


def outside_domain(function: str, argument: Value) -> EvaluationError:
    """Return the error of an application outside of the function's domain."""
    return EvaluationError(
        "KMC259",
        f"{function} is applied to {described(argument)}, which is not in its domain",
        help="test the argument first: IF x \\in DOMAIN f THEN f[x] ELSE ...",
    )


def nothing_to_choose(text: str) -> EvaluationError:
    """Return the error of a CHOOSE without a satisfying element."""
    return EvaluationError(
        "KMC260",
        f"no element of {text} satisfies the condition of this CHOOSE",
        help="TLC fails here, too; guard the CHOOSE with \\E",
    )


def no_arm_holds() -> EvaluationError:
    """Return the error of a CASE of which no condition holds."""
    return EvaluationError("KMC263", "no condition of this CASE holds", help="add OTHER -> e, or the missing condition")


def read_before_assigned(variable: str) -> EvaluationError:
    """Return the error of a variable that is read before it has a value in the new state."""
    return EvaluationError(
        "KMC264",
        f"variable '{variable}' is read before it has a value in this state",
        help="conjuncts are evaluated in their order: assign the variable in an earlier conjunct",
    )


def incomplete_state(names: tuple[str, ...], where: str) -> EvaluationError:
    """Return the error of a state in which variables have no value."""
    quoted = ", ".join(f"'{name}'" for name in names)
    return EvaluationError(
        "KMC265",
        f"{where} gives no value to {quoted}",
        help="every conjunction assigns every variable: x' = e, x' \\in S or UNCHANGED x",
    )


def not_enumerable(text: str) -> EvaluationError:
    """Return the error of a set whose elements cannot be listed."""
    return EvaluationError(
        "KMC266",
        f"{text} has no list of elements, since it is infinite",
        help="replace the set by a finite one in the .cfg file, such as Nat <- SmallNat",
    )


def outside_arithmetic(operation: str, reason: str) -> EvaluationError:
    """Return the error of an operation on numbers that has no result."""
    return EvaluationError("KMC267", f"{operation} has no value: {reason}", help="guard the operation")


def partial_sequence(operation: str, reason: str) -> EvaluationError:
    """Return the error of an operator of sequences outside of what it is defined for."""
    return EvaluationError("KMC269", f"{operation} has no value: {reason}", help="test Len(s) first")


def failed_assertion(message: str) -> EvaluationError:
    """Return the error of an Assert that is false."""
    return EvaluationError("KMC291", f"this Assert is false: {message}", help="the message is the module's own")


def endless_recursion(name: str) -> EvaluationError:
    """Return the error of a recursion that is too deep."""
    return EvaluationError(
        "KMC270",
        f"the recursion of '{name}' is too deep",
        help="see that every call comes closer to a case without recursion",
    )


def never_evaluated(construct: str, reason: str) -> EvaluationError:
    """Return the error of a construct that TLC refuses when it evaluates it."""
    return EvaluationError("KMC275", f"{construct} cannot be evaluated: {reason}", help="TLC refuses it, too")
