"""Examples of docs/language.md as drawn specs: TLC counted them, so they say whether the brute force counts as TLC."""

from __future__ import annotations

from attack.drawn_spec import Action, DrawnSpec, Record, Type
from attack.drawn_terms import FALSE, NO_KEYS, TRUE
from attack.expressions import Expr

SERVER: Type = ("id", "Server")
EPOCH: Type = ("int", 0, 2)
ONE = ("lit", 1, "1")
ST, M, SENDER, DEST = (("var", name) for name in ("st", "m", "i", "j"))


def _st(name: str) -> Expr:
    return ("field", ST, name)


def _m(name: str) -> Expr:
    return ("field", M, name)


_ENDS = (("source", SERVER), ("dest", SERVER))
_ASKED: Expr = ("record", "VoteRequest", (("epoch", ("at", _st("epoch"), SENDER)), ("source", SENDER), ("dest", DEST)))
_GRANTED: Expr = ("le", ("at", _st("epoch"), _m("dest")), _m("epoch"))
_ANSWER: Expr = (
    "record",
    "VoteResponse",
    (("epoch", _m("epoch")), ("granted", _GRANTED), ("source", _m("dest")), ("dest", _m("source"))),
)
_TAKEN: Expr = ("bag_take", _st("messages"), M)


def _ask_all() -> Action:
    """Return `ask_all` of two servers: of each server there is one other, which the filter finds."""
    at: Expr = ("at", _st("epoch"), SENDER)
    other: Expr = ("record", "VoteRequest", (("epoch", at), ("source", SENDER), ("dest", DEST)))
    changes = (
        ("messages", ("bag_add", _st("messages"), other)),
        ("epoch", ("put", _st("epoch"), SENDER, ("plus", at, 1))),
    )
    guards = (
        ("require", ("lt", at, 2)),
        ("require", ("not", ("in", other, _st("messages")))),
        ("require", ("ne", SENDER, DEST)),
    )
    return Action("ask_all", (("i", SERVER), ("j", SERVER)), (*guards, ("yield", changes)))


BAG = DrawnSpec(
    idents=(("Server", ("n1", "n2"), False),),
    enums=(),
    records=(
        Record("VoteRequest", (("epoch", EPOCH), *_ENDS), is_message=True),
        Record("VoteResponse", (("epoch", EPOCH), ("granted", ("bool",)), *_ENDS), is_message=True),
    ),
    fields=(("messages", ("mbag", ("VoteRequest", "VoteResponse"), 20, 3)), ("epoch", ("map", SERVER, EPOCH))),
    init=(("start", (("messages", NO_KEYS), ("epoch", ("function", "k", ("members", "Server"), ONE)))),),
    actions=(
        Action(
            "ask",
            (("i", SERVER), ("j", SERVER)),
            (
                ("require", ("and", ("ne", SENDER, DEST), ("not", ("in", _ASKED, _st("messages"))))),
                ("yield", (("messages", ("bag_add", _st("messages"), _ASKED)),)),
            ),
        ),
        _ask_all(),
        Action(
            "answer",
            (),
            (
                ("require", ("not", ("in", _ANSWER, _st("messages")))),
                ("yield", (("messages", ("bag_add", _TAKEN, _ANSWER)),)),
            ),
            message="VoteRequest",
            network="messages",
        ),
        Action(
            "learn",
            (),
            (("yield", (("messages", _TAKEN), ("epoch", ("put", _st("epoch"), _m("dest"), _m("epoch"))))),),
            message="VoteResponse",
            network="messages",
        ),
    ),
    deadlock=False,
)
"""Send, reply and discard on a bag, with their guards: 1327 generated, 581 distinct."""

_S = ("var", "s")
PAIRS = DrawnSpec(
    idents=(("Server", ("s1", "s2", "s3"), False),),
    enums=(),
    records=(),
    fields=(("connected", ("map", ("pair", "Server"), ("bool",))),),
    init=(("start", (("connected", ("function", "k", ("pairs", ("members", "Server")), TRUE)),)),),
    actions=(
        Action(
            "isolate",
            (("s", SERVER),),
            (
                (
                    "yield",
                    (
                        (
                            "connected",
                            (
                                "function",
                                "p",
                                _st("connected"),
                                ("if", ("in", _S, ("var", "p")), FALSE, ("at", _st("connected"), ("var", "p"))),
                            ),
                        ),
                    ),
                ),
            ),
        ),
        Action(
            "join",
            (("a", SERVER), ("b", SERVER)),
            (
                (
                    "if",
                    ("ne", ("var", "a"), ("var", "b")),
                    (
                        (
                            "yield",
                            (("connected", ("put", _st("connected"), ("pair", ("var", "a"), ("var", "b")), TRUE)),),
                        ),
                    ),
                    (),
                ),
            ),
        ),
    ),
    deadlock=False,
)
"""Unordered pairs as keys: 73 generated, 8 distinct."""

_LOG: Expr = ("at", _st("log"), ("var", "i"))
LOGS = DrawnSpec(
    idents=(("Server", ("n1", "n2"), True), ("Value", ("v1", "v2"), True)),
    enums=(),
    records=(),
    fields=(("log", ("map", SERVER, ("seq", ("id", "Value"), 3))),),
    init=(("start", (("log", ("function", "k", ("members", "Server"), ("lit", (), "[]"))),)),),
    actions=(
        Action(
            "client_request",
            (("i", SERVER), ("v", ("id", "Value"))),
            (
                ("require", ("lt", ("len", _LOG), 2)),
                ("yield", (("log", ("put", _st("log"), SENDER, ("append", _LOG, ("var", "v")))),)),
            ),
        ),
    ),
    symmetry=True,
    deadlock=False,
)
"""Symmetry: 29 generated, 16 distinct."""
