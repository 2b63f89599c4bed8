"""Short texts that several views share: a change, the sending of messages, the heading of a trace, its verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kmc.story.parts.story import Change, Story, StoryStep
from kmc.views.message_text import MessageNames


def change_text(change: Change) -> str:
    """`state of n1: Voted -> Follower`; `acked: + {v1}` of a set, `log[2] of n1: v1 (new)` of a sequence or map."""
    if change.old is None:
        return f"{change.place}: " + (f"+ {{{change.new}}}" if change.of_set else f"{change.new} (new)")
    if change.new is None:
        return f"{change.place}: " + (f"- {{{change.old}}}" if change.of_set else f"{change.old} (removed)")
    return f"{change.place}: {change.old} -> {change.new}"


def change_texts(story: Story, step: StoryStep) -> list[str]:
    """The changes of a step; a message that is part of a state is named by its number."""
    names = MessageNames(story.messages)
    return [names.of_text(change_text(change), step.number) for change in step.changes]


def happenings(story: Story, step: StoryStep) -> Iterator[str]:
    """The events of a step beside its label: `receives m2`, `state of n1: Voted -> Follower`, `sends m3 ...`."""
    if step.received is not None:
        message = story.message(step.received)
        yield f"receives {message.name}, sent in state {message.sent_at}"
    yield from change_texts(story, step)
    yield from (f"a majority: {majority}" for majority in step.majorities)
    yield from ([f"in the abstract spec, {step.abstract}"] if step.abstract else [])
    for number in step.sent:
        yield f"{step.has_sent} {story.message(number).name} {story.message(number).brief}"
    for number in step.lost:
        yield f"loses {story.message(number).name} {story.message(number).brief}"


def doc_text(step: StoryStep) -> str:
    """The purpose of the action, without its own name before it: `A follower becomes prospective.`"""
    text = re.sub(rf"^{re.escape(step.action or '')}(\([^)]*\))?: ", "", step.doc)
    return text[:1].upper() + text[1:]


def heading(story: Story) -> str:
    """`kip_996 own_vote_elects: violation of ElectionSafety, 7 states`."""
    about = story.about
    whose = " ".join(about[key] for key in ("spec", "model") if about.get(key)) or "Trace"
    verdict = about.get("status", "")
    failed = f"{verdict} of {about['property']}" if about.get("property") else verdict
    count = len(story.steps)
    phrases = [failed] if failed else []
    return f"{whose}: {', '.join([*phrases, f'{count} state' + ('' if count == 1 else 's')])}"


def loop_text(story: Story) -> str:
    """The continuation of a lasso: `states 3 to 7 repeat for ever`; empty for a finite trace."""
    if story.loop is None:
        return ""
    last = len(story.steps)
    if story.loop.closing is None and story.loop.back_to == last:
        return f"nothing happens after state {last}, for ever"
    if story.loop.back_to == last:
        return f"state {last} repeats for ever"
    return f"states {story.loop.back_to} to {last} repeat for ever"
