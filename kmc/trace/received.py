"""The message that a step received: traces name the action and its arguments, and a message is neither."""

from __future__ import annotations

from typing import Any

from kmc.actions.action import Action
from kmc.errors import KmcError
from kmc.lang.order import ordered
from kmc.lang.records import State


def received_message(action: Action | None, before: State, arguments: tuple[Any, ...], after: State) -> Any | None:
    """The least message whose reception by `action` leads from `before` to `after`; None for other actions."""
    if action is None or action.message is None or action.network is None:
        return None
    for message in ordered(frozenset(getattr(before, action.network).deliverable(action.message))):
        if action.receives_with(message, arguments) and _leads(action, before, message, arguments, after):
            return message
    return None


def _leads(action: Action, before: Any, message: Any, arguments: tuple[Any, ...], after: Any) -> bool:
    try:
        return any(successor == after for successor in action.function(before, message, *arguments))
    except KmcError:
        return False  # the reception of another message fails: not this step
