"""The data of a session for the page, as JSON. The page's scripts read it; `docs/explorer.md` is for people.

`view_of` is the whole of it: the tree, the story of the path to where the person is (as every page of kmc shows
stories), the verdicts there, the moves, and the search that runs.
"""

from __future__ import annotations

from typing import Any

from kmc.errors import KmcError
from kmc.explorer.explored_model import Move
from kmc.explorer.judging import JudgedOutcome, JudgedProperty, failing, is_outside
from kmc.explorer.session import INITIAL_STATES_MAX, ExplorerSession, RunningSearch
from kmc.explorer.state_tree import VisitedState
from kmc.explorer.telling_paths import PreviewedMove, ToldState
from kmc.frontend.source_place import source_place
from kmc.invariants.kinds import Role
from kmc.story.explain.obstacles import Obstacle
from kmc.unexplained import Unexplained, try_explaining

Json = dict[str, Any]

INITIAL_LISTED = 50
MOVES_SHOWN_MAX = 500
"""The most steps of a state that the page shows: the others are counted."""


def view_of(session: ExplorerSession) -> Json:
    """All that the page shows."""
    tree = session.tree
    line = tree.line()
    # The story of the whole line is made first; its steps are then reused for the tree.
    here = _here(session, line, len(tree.path(tree.at))) if line else {}
    return {
        "at": tree.at,
        "line": [visited.number for visited in line],
        "tree": [_visited(session, visited) for visited in tree.visited],
        "undo": bool(session.history.past),
        "redo": bool(session.history.future),
        "search": None if session.search is None else search_data(session.search),
        **here,
    }


def frame_of(session: ExplorerSession) -> Json:
    """The data that never changes: the model, the conditions to run until, and the notes on the trace that was
    opened.
    """
    model, words = session.ground.model, session.explored.expression_words
    return {
        "spec": model.spec.name,
        "model": model.name,
        "doc": model.spec.doc.split("\n")[0],
        "about": dict(session.ground.about),
        "notes": list(session.ground.notes),
        "actions": list(session.explored.action_names),
        "properties": [predicate.name for predicate in model.predicates(Role.CHECKED)],
        "goals": [predicate.name for predicate in model.predicates(Role.WITNESSED, 1)],
        "deadlock": model.deadlock,
        "expressions": {"kind": words.kind, "example": words.example},
    }


def initial_data(session: ExplorerSession, begin: int) -> Json:
    """Some of the initial states, from place `begin` on: the differences of each from the first one."""
    states = session.initial.first(begin + INITIAL_LISTED + 1)
    first = session.explored.values_of(states[0])
    listed = []
    for index, state in enumerate(states[begin : begin + INITIAL_LISTED], start=begin):
        values = session.explored.values_of(state)
        different = [[name, text] for name, text in values.items() if index == 0 or text != first[name]]
        listed.append({"place": index, "values": different})
    more = len(states) > begin + INITIAL_LISTED
    is_cut = not more and begin + len(listed) == INITIAL_STATES_MAX
    return {"states": listed, "more": more, "most": INITIAL_STATES_MAX if is_cut else None}


def disabled_data(session: ExplorerSession) -> Json:
    """The actions that are not enabled in the current state, with the guard that stops each."""
    obstacles = session.explored.obstacles(session.here().state)
    truth = session.explored.expression_words.truth
    return {"disabled": [_obstacle(obstacle, truth) for obstacle in obstacles]}


def _obstacle(obstacle: Obstacle, truth: tuple[str, str]) -> Json:
    return {
        "action": obstacle.action,
        "arguments": [value for _, value in obstacle.arguments],
        "message": obstacle.message,
        "guard": obstacle.guard,
        "value": truth[obstacle.holds],
        "place": obstacle.place,
        "sentence": obstacle.sentence,
    }


def _here(session: ExplorerSession, line: tuple[VisitedState, ...], step: int) -> Json:
    """The `line` through where the person is, which is its state number `step`, counted from 1."""
    told = session.told_line(line)
    here = told.told[step - 1]
    before = line[step - 2].state if step > 1 else None
    moves = session.moves()
    verdicts = session.explored.judged(before, here.visited.state)
    return {
        "step": step,
        "fails": list(session.failing(here.visited)),
        "told": told.number,
        "story": told.data,
        "verdicts": [_verdict(session, verdict, before, here.visited.state) for verdict in verdicts],
        "moves": [_move(session, here, index, move) for index, move in enumerate(moves.enabled[:MOVES_SHOWN_MAX])],
        "unshown": max(0, len(moves.enabled) - MOVES_SHOWN_MAX),
        "disabled": moves.has_disabled,
        "failing": [{"label": label, "error": error_data(error)} for label, error in moves.failing],
        "deadlock": not moves.enabled and not moves.failing,
    }


def _visited(session: ExplorerSession, visited: VisitedState) -> Json:
    tree = session.tree
    step = session.teller.known(visited) or session.teller.explained(tree.path(visited.number))[-1].step
    return {
        "number": visited.number,
        "parent": visited.parent,
        "level": step.number,
        "label": step.label,
        "actor": step.actor,
        "bookmark": tree.bookmarks.get(visited.number, ""),
        "fails": list(session.failing(visited)),
    }


def _move(session: ExplorerSession, last: ToldState, index: int, move: Move) -> Json:
    state, successor = last.visited.state, move.step.state
    verdicts = list(session.explored.judged(state, successor))
    previewed = session.teller.preview(last, move)
    step = previewed.step
    return {
        "place": index,
        "label": step.label,
        "action": step.action,
        "actor": step.actor,
        "doc": step.doc,
        "place_of_action": step.place,
        "received": step.received,
        "changes": [{"path": list(c.path), "lane": c.lane, "old": c.old, "new": c.new} for c in step.changes],
        "sent": _briefs(previewed, step.sent),
        "lost": _briefs(previewed, step.lost),
        "drops": list(step.lost),
        "ways": move.ways,
        "stutters": successor == state,
        "fails": list(failing(verdicts)),
        "outside": is_outside(verdicts),
        "visited": session.tree.known(move.step, move.message),
    }


def _briefs(previewed: PreviewedMove, numbers: tuple[int, ...]) -> list[str]:
    return [f"{message.name} {message.brief}" for message in (previewed.messages[number - 1] for number in numbers)]


def _verdict(session: ExplorerSession, judged_property: JudgedProperty, before: Any | None, state: Any) -> Json:
    return {
        "why": _why(session, judged_property, before, state)
        if judged_property.outcome is JudgedOutcome.FAILS
        else None,
        "name": judged_property.name,
        "kind": "goal"
        if judged_property.outcome in (JudgedOutcome.REACHED, JudgedOutcome.NOT_REACHED)
        else judged_property.kind,
        "outcome": judged_property.outcome.name.lower(),
        "text": judged_property.outcome.value,
        "doc": judged_property.doc.split("\n\n")[0],
        "place": source_place(judged_property.place),
        "error": None if judged_property.error is None else error_data(judged_property.error),
    }


def _why(session: ExplorerSession, judged_property: JudgedProperty, before: Any | None, state: Any) -> Json:
    """Explain why a property fails here: a sentence, and the values that decide it."""

    def explain() -> Json:
        reason = session.explored.why_fails(judged_property.name, before, state)
        return {"sentence": reason.sentence, "pairs": [list(pair) for pair in reason.pairs]}

    told = try_explaining(explain)
    if isinstance(told, Unexplained):
        return {"sentence": told.sentence(f"{judged_property.name} fails here; the explanation"), "pairs": []}
    return told


def search_data(search: RunningSearch) -> Json:
    """The progress of a search, or how it ended."""
    result, error = search.result, search.error
    return {
        "number": search.number,
        "sentence": search.sentence,
        "over": search.is_over,
        "activity": search.progress.activity,
        "states": search.progress.states if result is None else result.states,
        "depth": search.progress.depth if result is None else result.depth,
        "end": None if result is None else result.end.name.lower(),
        "text": None if result is None else result.end.value,
        "steps": 0 if result is None else len(result.steps),
        "error": None if error is None else error_data(error),
    }


def error_data(error: KmcError) -> Json:
    """An error with the author's line, as the command line shows it."""
    line = error.span.source_line() if error.span is not None else None
    return {
        "code": error.code,
        "message": error.message,
        "help": error.help,
        "notes": list(error.notes),
        "place": source_place(error.span),
        "source": None if line is None else line.strip(),
    }
