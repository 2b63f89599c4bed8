r"""The printer of TLA+ trees: text that parses to the same tree.

Parentheses stand where precedences need them and where an operand has no end of its own (IF, quantifiers, lists, ...)
and something follows it. Lists of `/\` and `\/` have one line for each item, whose further lines are right of the sign.
"""

from __future__ import annotations

from typing import assert_never

from kmc.tla.syntax.operators import DEFINABLE_PREFIX, INFIX, POSTFIX, PREFIX, PREFIX_WORDS, Precedence
from kmc.tla.syntax.tree import (
    ApplicationSyntax,
    ArgumentSyntax,
    AssumptionSyntax,
    BooleanSyntax,
    BoundSyntax,
    CaseSyntax,
    ChooseSyntax,
    DecimalSyntax,
    DeclarationSyntax,
    DefinitionSyntax,
    ExceptSyntax,
    ExpressionSyntax,
    FairnessSyntax,
    FieldSyntax,
    FunctionDefinitionSyntax,
    FunctionSetSyntax,
    FunctionSyntax,
    IfSyntax,
    InfixSyntax,
    InstanceSyntax,
    JunctionSyntax,
    LabelSyntax,
    LambdaSyntax,
    LetSyntax,
    ModuleSyntax,
    NameSyntax,
    NumberSyntax,
    OperatorSymbolSyntax,
    ParameterSyntax,
    PostfixSyntax,
    PrefixSyntax,
    PreviousSyntax,
    ProductSyntax,
    QuantifierSyntax,
    RecordSetSyntax,
    RecordSyntax,
    ReferenceSyntax,
    SetFilterSyntax,
    SetMapSyntax,
    SetSyntax,
    StepSyntax,
    StringSyntax,
    SubscriptedSyntax,
    TheoremSyntax,
    TupleSyntax,
    UnboundedSyntax,
    UnitSyntax,
    UpdateSyntax,
)

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\f": "\\f"})
_OPEN = (
    *(IfSyntax, CaseSyntax, LetSyntax, LabelSyntax, ChooseSyntax, QuantifierSyntax, UnboundedSyntax, JunctionSyntax),
)
"""Expressions that go on as far as they can."""
_SUBSCRIPTS = (ReferenceSyntax, TupleSyntax, SetSyntax, SetFilterSyntax, SetMapSyntax, FunctionSyntax, RecordSyntax)


def print_module(module: ModuleSyntax) -> str:
    """Return a module as text."""
    lines = [f"---- MODULE {module.name} ----"]
    if module.extends:
        lines.append("EXTENDS " + _names(module.extends))
    lines += [print_unit(unit) for unit in module.units]
    return "\n".join((*lines, "===="))


def print_unit(unit: UnitSyntax) -> str:
    """Return a unit of a module as text."""
    match unit:
        case DeclarationSyntax(kind=kind, names=names):
            return f"{kind} {', '.join(map(_parameter, names))}"
        case DefinitionSyntax(name=name, parameters=parameters, body=body, is_local=is_local):
            return _join(_local(is_local), _head(name, parameters), " == ", print_expression(body))
        case FunctionDefinitionSyntax(name=name, bounds=bounds, body=body, is_local=is_local):
            return _join(_local(is_local), name, "[", _bounds(bounds), "] == ", print_expression(body))
        case InstanceSyntax(name=name, parameters=parameters, is_local=is_local):
            head = f"{_head(name, parameters)} == " if name is not None else ""
            return _join(_local(is_local), head, _instance(unit))
        case AssumptionSyntax(name=name, condition=condition, is_axiom=is_axiom):
            return _join(
                "AXIOM " if is_axiom else "ASSUME ",
                f"{name} == " if name is not None else "",
                print_expression(condition),
            )
        case TheoremSyntax(name=None):
            return "THEOREM TRUE"
        case TheoremSyntax(name=name, statement=statement):
            text = print_expression(statement) if statement is not None else "ASSUME TRUE PROVE TRUE"
            return _join(f"THEOREM {name} == ", text)
        case ModuleSyntax():
            return print_module(unit)
        case _:
            assert_never(unit)


def print_expression(node: ExpressionSyntax) -> str:
    """Return an expression as text; every further line is indented for what stands before the first."""
    return _text(node, is_last=True)


def _join(*parts: str) -> str:
    """Join texts one behind the other, with the further lines of each indented to where its first line begins."""
    joined = ""
    for part in parts:
        column = len(joined) - (joined.rfind("\n") + 1)
        joined += part.replace("\n", "\n" + " " * column)
    return joined


def _listed(texts: list[str]) -> str:
    """Join texts with commas, each indented to where it begins."""
    parts: list[str] = []
    for text in texts:
        parts += (", ", text) if parts else (text,)
    return _join(*parts)


# Units


def _local(is_local: bool) -> str:
    return "LOCAL " if is_local else ""


def _parameter(parameter: ParameterSyntax) -> str:
    name = parameter.name
    if name in INFIX and parameter.arity == 2:
        return f"_ {name} _"
    if name in POSTFIX:
        return f"_ {name}"
    if name in DEFINABLE_PREFIX:
        return f"{name} _"
    return f"{name}({', '.join('_' * parameter.arity)})" if parameter.arity else name


def _head(name: str, parameters: tuple[ParameterSyntax, ...]) -> str:
    names = [_parameter(parameter) for parameter in parameters]
    if name in INFIX:
        return f"{names[0]} {name} {names[1]}"
    if name in POSTFIX:
        return f"{names[0]} {name}"
    if name in DEFINABLE_PREFIX:
        return f"{name} {names[0]}"
    return f"{name}({', '.join(names)})" if names else name


def _instance(unit: InstanceSyntax) -> str:
    given = [_join(f"{one.name} <- ", _argument(one.value)) for one in unit.substitutions]
    return _join(f"INSTANCE {unit.module.text}", " WITH " if given else "", _listed(given))


# Expressions


def _text(node: ExpressionSyntax, is_last: bool) -> str:
    """Return the text of an expression; `is_last` says that nothing follows that it could take in."""
    if isinstance(node, _OPEN) and not is_last:
        return _join("(", _open(node, True), ")")
    match node:
        case NumberSyntax(value=value):
            return str(value)
        case DecimalSyntax(text=text):
            return text
        case StringSyntax(value=value):
            return f'"{value.translate(_ESCAPES)}"'
        case BooleanSyntax(value=value):
            return "TRUE" if value else "FALSE"
        case PreviousSyntax():
            return "@"
        case ReferenceSyntax(steps=steps):
            return _steps(steps)
        case InfixSyntax(operator=operator, left=left, right=right):
            return _join(_left(left, operator), f" {operator} ", _right(right, operator, is_last))
        case ProductSyntax(sets=sets):
            inside = [part for one in sets[1:-1] for part in (" \\X ", _right(one, "\\X", False))]
            return _join(_left(sets[0], "\\X"), *inside, " \\X ", _right(sets[-1], "\\X", is_last))
        case PrefixSyntax(operator=operator, operand=operand):
            return _prefix(operator, operand, is_last)
        case PostfixSyntax(operator=operator, operand=operand):
            return _join(_tight(operand), operator)
        case ApplicationSyntax(function=function, arguments=arguments):
            return _join(_tight(function), "[", _all(arguments), "]")
        case FieldSyntax(record=record, name=name):
            return _join(_tight(record), f".{name}")
        case SubscriptedSyntax() | FairnessSyntax():
            return _subscripted(node)
        case _ if isinstance(node, _OPEN):
            return _open(node, is_last)
        case _:
            return _bracketed(node)


def _open(node: ExpressionSyntax, is_last: bool) -> str:
    """Return the text of an expression that goes on as far as it can."""
    match node:
        case JunctionSyntax(operator=operator, items=items):
            return "\n".join(_join(f"{operator} ", _text(item, True)) for item in items)
        case IfSyntax(condition=condition, then=then, otherwise=otherwise):
            tests = ("IF ", _text(condition, True), " THEN ", _text(then, True))
            return _join(*tests, " ELSE ", _text(otherwise, is_last))
        case CaseSyntax(arms=arms, other=other):
            texts = [_join(_text(condition, True), " -> ", _text(value, False)) for condition, value in arms]
            texts += [_join("OTHER -> ", _text(other, is_last))] if other is not None else []
            return _join("CASE ", texts[0], *(part for text in texts[1:] for part in (" [] ", text)))
        case LetSyntax(units=units, body=body):
            head = _join("LET ", "\n".join(print_unit(unit) for unit in units))
            return f"{head}\n{_join('IN  ', _text(body, is_last))}"
        case LabelSyntax(name=name, parameters=parameters, body=body):
            label = f"{name}({_names(parameters)})" if parameters else name
            return _join(f"{label}:: ", _text(body, is_last))
        case QuantifierSyntax(kind=kind, bounds=bounds, body=body):
            return _join(f"{kind} ", _bounds(bounds), " : ", _text(body, is_last))
        case UnboundedSyntax(kind=kind, names=names, body=body):
            return _join(f"{kind} {_names(names)} : ", _text(body, is_last))
        case ChooseSyntax(names=names, is_pattern=is_pattern, domain=domain, body=body):
            head = f"CHOOSE {_pattern(names, is_pattern)}"
            chosen = _join(head, " \\in ", _text(domain, True)) if domain is not None else head
            return _join(chosen, " : ", _text(body, is_last))
        case _:
            raise AssertionError("the node has an end of its own")


def _bracketed(
    node: SetSyntax
    | SetFilterSyntax
    | SetMapSyntax
    | TupleSyntax
    | FunctionSyntax
    | FunctionSetSyntax
    | RecordSyntax
    | RecordSetSyntax
    | ExceptSyntax,
) -> str:
    match node:
        case SetSyntax(items=items):
            return _join("{", _all(items), "}")
        case TupleSyntax(items=items):
            return _join("<<", _all(items), ">>")
        case SetFilterSyntax(bound=bound, condition=condition):
            return _join("{", _bounds((bound,)), " : ", _text(condition, True), "}")
        case SetMapSyntax(body=body, bounds=bounds):
            # `x \in S` before the colon would be the bound of a filter.
            is_bound = isinstance(body, InfixSyntax) and body.operator == "\\in"
            text = _join("(", _text(body, True), ")") if is_bound else _text(body, True)
            return _join("{", text, " : ", _bounds(bounds), "}")
        case FunctionSyntax(bounds=bounds, body=body):
            return _join("[", _bounds(bounds), " |-> ", _text(body, True), "]")
        case FunctionSetSyntax(domain=domain, codomain=codomain):
            return _join("[", _text(domain, True), " -> ", _text(codomain, True), "]")
        case RecordSyntax(fields=fields):
            return _join("[", _listed([_join(f"{name.text} |-> ", _text(value, True)) for name, value in fields]), "]")
        case RecordSetSyntax(fields=fields):
            return _join("[", _listed([_join(f"{name.text} : ", _text(value, True)) for name, value in fields]), "]")
        case ExceptSyntax(function=function, updates=updates):
            return _join("[", _text(function, True), " EXCEPT ", _listed([_update(one) for one in updates]), "]")
        case _:
            assert_never(node)


def _update(update: UpdateSyntax) -> str:
    path = [f".{part.text}" if isinstance(part, NameSyntax) else _join("[", _all(part), "]") for part in update.path]
    return _join("!", *path, " = ", _text(update.value, True))


def _subscripted(node: SubscriptedSyntax | FairnessSyntax) -> str:
    subscript = _text(node.subscript, True)
    if not isinstance(node.subscript, _SUBSCRIPTS):
        subscript = _join("(", subscript, ")")
    action = _text(node.action, True)
    if isinstance(node, FairnessSyntax):
        return _join(f"{node.kind}_", subscript, "(", action, ")")
    return _join(node.kind, action, "]_" if node.kind == "[" else ">>_", subscript)


# Operands


def _precedence(node: ExpressionSyntax) -> Precedence | None:
    """Return the precedence of the operator that an expression is an application of, None if it is none."""
    match node:
        case InfixSyntax(operator=operator):
            return INFIX[operator]
        case ProductSyntax():
            return INFIX["\\X"]
        case PrefixSyntax(operator=operator):
            return PREFIX[operator]
        case PostfixSyntax(operator=operator):
            return POSTFIX[operator]
        case _:
            return None


def _enclosed(node: ExpressionSyntax, needs_parentheses: bool, is_last: bool) -> str:
    return _join("(", _text(node, True), ")") if needs_parentheses else _text(node, is_last)


def _left(node: ExpressionSyntax, operator: str) -> str:
    own, outer = _precedence(node), INFIX[operator]
    chains = isinstance(node, InfixSyntax) and node.operator == operator and outer.associates
    return _enclosed(node, own is not None and not own.low > outer.high and not chains, False)


def _right(node: ExpressionSyntax, operator: str, is_last: bool) -> str:
    own, outer = _precedence(node), INFIX[operator]
    binds = own is None or own.low > outer.high
    if not binds and isinstance(node, PrefixSyntax) and is_last:
        # A prefix operator may follow any operator, but for the minus behind one that binds more.
        binds = node.operator != "-." or outer.low <= PREFIX["-."].high
    return _enclosed(node, not binds, is_last)


def _prefix(operator: str, operand: ExpressionSyntax, is_last: bool) -> str:
    own, outer = _precedence(operand), PREFIX[operator]
    binds = own is None or own.low > outer.high
    if not binds and isinstance(operand, PrefixSyntax):
        binds = own is not None and (is_last or own.low >= outer.low)
    text = _enclosed(operand, not binds, is_last)
    sign = "-" if operator == "-." else operator
    return _join(sign, " " if operator in PREFIX_WORDS or text.startswith("-") else "", text)


def _tight(node: ExpressionSyntax) -> str:
    """Return the text of what a postfix operator, an argument or a field follows."""
    is_loose = isinstance(node, InfixSyntax | ProductSyntax | PrefixSyntax | NumberSyntax | DecimalSyntax)
    # A subscript would take in what follows.
    return _enclosed(node, is_loose or isinstance(node, SubscriptedSyntax), False)


def _all(items: tuple[ExpressionSyntax, ...]) -> str:
    return _listed([_text(item, True) for item in items])


def _argument(argument: ArgumentSyntax) -> str:
    match argument:
        case OperatorSymbolSyntax(symbol=symbol):
            return symbol
        case LambdaSyntax(parameters=parameters, body=body):
            return _join(f"LAMBDA {_names(parameters)} : ", _text(body, True))
        case _:
            return _text(argument, True)


def _steps(steps: tuple[StepSyntax, ...]) -> str:
    parts: list[str] = []
    for step in steps:
        parts += ["! " if step.name.startswith("!") else "!"] if parts else []
        parts.append(step.name)
        if step.arguments is not None:
            # Without blanks, `(+)` and `(*` would be other tokens.
            first, last = (isinstance(step.arguments[at], OperatorSymbolSyntax) for at in (0, -1))
            arguments = _listed([_argument(argument) for argument in step.arguments])
            parts += ["( " if first else "(", arguments, " )" if last else ")"]
    return _join(*parts)


def _names(names: tuple[NameSyntax, ...]) -> str:
    return ", ".join(name.text for name in names)


def _pattern(names: tuple[NameSyntax, ...], is_pattern: bool) -> str:
    return f"<<{_names(names)}>>" if is_pattern else _names(names)


def _bounds(bounds: tuple[BoundSyntax, ...]) -> str:
    # In brackets and braces a bound is read as an operation of `\in`, before what follows says that it is a bound.
    return _listed(
        [_join(_pattern(one.names, one.is_pattern), " \\in ", _right(one.domain, "\\in", True)) for one in bounds]
    )
