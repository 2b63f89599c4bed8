"""Repeat operations that a storage could not do for now: with growing pauses, up to a limit, and only where that may
help.

pyarrow repeats most requests to S3 itself, for six seconds. It does not repeat the GET of an object that is smaller
than the text of the error: that fails as `Failed to flush response stream`, whatever the status was. (A HEAD comes
before each GET, and says whether it is refused.) Nor does it repeat a request that got the status 429.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

_Answer = TypeVar("_Answer")

# The service is there, and says that it cannot answer now. A refusal (403, 404) has other names.
_BUSY = re.compile(
    r"SLOW_DOWN|SERVICE_UNAVAILABLE|INTERNAL_FAILURE|THROTTLING|REQUEST_TIMEOUT|HTTP status (?:429|5\d\d)\b"
)

# The service was not reached, or the connection broke.
_LOST = re.compile(r"NETWORK_CONNECTION|curlCode|timed out|Connection (?:reset|refused|aborted)|Broken pipe")


def is_busy(text: str) -> bool:
    """Return whether an error of pyarrow says that the service cannot answer now."""
    return _BUSY.search(text) is not None


def may_succeed_later(text: str) -> bool:
    """Return whether an operation that failed with this error of pyarrow may succeed if it is repeated."""
    return is_busy(text) or _LOST.search(text) is not None


@dataclass(frozen=True, slots=True)
class Retries:
    """A limit on the attempts of a request, with the pauses between them.

    A pause is a random part of a bound that doubles each time, so that hosts which were refused together do not return
    together (full jitter: Brooker, Exponential backoff and jitter, 2015). After `seconds_max` no new attempt begins.
    """

    attempts: int = 6
    pause_seconds: float = 0.2
    pause_seconds_max: float = 5.0
    seconds_max: float = 20.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[], float] = random.random

    def of(self, request: Callable[[], _Answer]) -> _Answer:
        """Make a request until it is answered; the last error if it is not, at once if repeating it cannot help."""
        end = self.clock() + self.seconds_max
        for attempt in range(1, self.attempts):
            try:
                return request()
            except OSError as error:
                if isinstance(error, FileNotFoundError) or not may_succeed_later(str(error)):
                    raise
                pause = self.draw() * min(self.pause_seconds_max, self.pause_seconds * 2**attempt)
                if self.clock() + pause >= end:
                    raise
            self.sleep(pause)
        return request()
