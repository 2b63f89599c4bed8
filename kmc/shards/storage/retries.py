"""Repeat operations that a storage could not do for now: with growing pauses, up to a limit, and only where that may
help.

pyarrow repeats most requests to S3 itself, every 0.2 seconds for six seconds, and that suffices if 40 % of all requests
fail. It does not repeat three kinds. The GET of an object that is smaller than the text of the error fails as `Failed
to flush response stream`, whatever the status was; a HEAD comes before each GET, and says whether it is refused. A
request other than HEAD that got the status 429 fails at once. So does a multipart upload that was completed, if the
answer was lost: the repetition finds no such upload. The SDK's own strategy, which pyarrow offers too
(`AwsStandardS3RetryStrategy`), cannot replace this: after some hundred failures its quota is used up, and then it
repeats nothing.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from kmc.shards.storage.storage_faults import may_succeed_later

_Answer = TypeVar("_Answer")


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
