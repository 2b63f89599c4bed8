"""A story as JSON, for other programs: the data from which the views for people are drawn.

Keys are the names of `kmc.story.parts.story`; values of variables are written as ITF writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from kmc.lang.tla import TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.story.parts.story import Story
from kmc.trace.itf import itf_value


def story_json_text(story: Story) -> str:
    """The story as one JSON object."""
    return json.dumps(_json(story), indent=1) + "\n"


def _json(value: Any) -> Any:
    match value:
        case TlaSet() | TlaSeq() | TlaMap() | TlaRecord():
            return itf_value(value)
        case tuple() | list():
            return [_json(item) for item in value]
        case Mapping():
            return {key: _json(item) for key, item in value.items()}
        case _ if is_dataclass(value):
            return {field.name: _json(getattr(value, field.name)) for field in fields(value)}
        case _:
            return value
