"""Errors of a storage, sorted by what an operator does about them: wait, give access, make the bucket, see the network.

pyarrow raises an OSError of one text for all of them, so the text decides. Only the part in which the service speaks is
read, because the rest holds names that a user chose.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import assert_never

from kmc.errors import SystemFault


class Trouble(Enum):
    """The kinds of failure of a storage."""

    BUSY = "busy"
    LOST = "lost"
    REFUSED = "refused"
    GONE = "gone"
    OTHER = "other"


_AWS = "AWS Error "

# The first that fits counts.
_TROUBLES = (
    (
        Trouble.BUSY,
        # The service is there, and says that it cannot answer now.
        r"SLOW_DOWN|SERVICE_UNAVAILABLE|INTERNAL_FAILURE|THROTTLING|REQUEST_TIMEOUT"
        r"|HTTP status (?:408|429|5(?!0[17])\d\d)\b|TooManyRequests|RESOURCE_EXHAUSTED|ServerBusy",
    ),
    (Trouble.GONE, r"NO_SUCH_BUCKET|NoSuchBucket|ContainerNotFound|bucket does not exist"),
    (
        Trouble.REFUSED,
        r"ACCESS_DENIED|INVALID_ACCESS_KEY_ID|INVALID_CLIENT_TOKEN_ID|SIGNATURE|MISSING_AUTHENTICATION_TOKEN"
        r"|UNRECOGNIZED_CLIENT|ExpiredToken|InvalidToken|REQUEST_EXPIRED|RequestTimeTooSkewed|HTTP status 40[13]\b"
        r"|credentials|PERMISSION_DENIED|[Pp]ermission denied|AccessControlException|AuthenticationFailed"
        r"|Read-only file system",
    ),
    (
        Trouble.LOST,
        # The service was not reached, or the connection broke. The answer to an upload that was completed may be lost
        # too: its repetition finds no such upload.
        r"NETWORK_CONNECTION|NO_SUCH_UPLOAD|NoSuchUpload|curlCode|timed out|Connection (?:reset|refused|aborted)"
        r"|Broken pipe",
    ),
)
_PATTERNS = tuple((trouble, re.compile(pattern)) for trouble, pattern in _TROUBLES)


def trouble_in(text: str) -> Trouble:
    """Return what is wrong by the text of an error of pyarrow."""
    said = _words_of_the_service(text)
    return next((trouble for trouble, pattern in _PATTERNS if pattern.search(said)), Trouble.OTHER)


def _words_of_the_service(text: str) -> str:
    """Return a text from its last `AWS Error` on, without what it quotes: the names of buckets and objects."""
    return re.sub(r"'[^']*'", "''", text.rpartition(_AWS)[2])


def is_busy(text: str) -> bool:
    """Return whether an error of pyarrow says that the service cannot answer now."""
    return trouble_in(text) is Trouble.BUSY


def may_succeed_later(text: str) -> bool:
    """Return whether an operation that failed with this error of pyarrow may succeed if it is repeated."""
    return trouble_in(text) in (Trouble.BUSY, Trouble.LOST)


def storage_fault(what: str, address: str, error: Exception) -> SystemFault:
    """Return the error of an operation on an address: KMC570, or KMC573 to KMC575 where the service says more."""
    text = " ".join(str(error).split())
    failed = f"cannot {what} {address}: {text}"
    match trouble_in(text):
        case Trouble.BUSY:
            return SystemFault("KMC573", f"the storage cannot answer now: {failed}", help=_LATER)
        case Trouble.REFUSED:
            return SystemFault("KMC574", f"the storage refuses access: {failed}", help=_ACCESS)
        case Trouble.GONE:
            return no_bucket(failed)
        case Trouble.LOST:
            return SystemFault("KMC570", f"the storage is not reached: {failed}", help=_NETWORK)
        case Trouble.OTHER:
            return SystemFault("KMC570", failed, help=_otherwise(text))
        case never:
            assert_never(never)


def no_bucket(why: str) -> SystemFault:
    """KMC575: the bucket of an address does not exist."""
    return SystemFault("KMC575", f"there is no such bucket: {why}", help="make the bucket, or correct the address")


def lists_that_lag(address: str, name: str) -> SystemFault:
    """KMC570: a list of a storage does not show a file that was just written."""
    return SystemFault(
        "KMC570",
        f"the list of {address} does not show {name}, which was just written",
        help="use a storage whose lists show at once what was written, as those of S3, Google, Azure and HDFS do",
    )


def busy_elsewhere(host: str, why: str) -> SystemFault:
    """KMC573: an executor on another host met a service that cannot answer now."""
    return SystemFault("KMC573", f"{why} (an executor on {host})", help=_LATER)


_LATER = "go on later, or with fewer tasks at the same time"
_ACCESS = (
    "give credentials that may read, write, list and remove there: for S3, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
)
_NETWORK = "see that the service runs, and that its address and the network are right"
_OTHER_ADVICE = (
    ("No space left", "make room there"),
    ("HTTP status 507", "make room there"),
    ("QuotaExceeded", "make room there, or raise the quota"),
    ("libjvm", "HDFS needs JAVA_HOME, HADOOP_HOME and CLASSPATH: see the documentation of pyarrow"),
)


def _otherwise(text: str) -> str:
    advice = (help for words, help in _OTHER_ADVICE if words in text)
    return next(advice, "see that the service runs, and that the address and the credentials are right")
