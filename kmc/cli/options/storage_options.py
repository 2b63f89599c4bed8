"""`--storage URI`: the options of a check whose files lie in a storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from kmc.cli.options.check_options import CheckOptions
from kmc.cli.options.quantities import size_bytes
from kmc.errors import CommandLineError

F = TypeVar("F", bound=Callable[..., Any])


def storage_options(function: F) -> F:
    """`--storage URI` and `--storage-cache SIZE`, as the parameters `storage` and `storage_cache`."""
    function = click.option(
        "--storage-cache",
        metavar="SIZE",
        default="10G",
        show_default=True,
        callback=size_bytes,
        help="With --storage: how much of its files each machine keeps on its disk.",
    )(function)
    return click.option(
        "--storage",
        metavar="URI",
        help="With --shards or --spark: keep the files there: s3://BUCKET/FOLDER, gs://, abfs://, hdfs://, file:///.",
    )(function)


def require_storage(options: CheckOptions) -> None:
    """Raise CommandLineError for a storage that cannot be: KMC616, KMC621, KMC622; SystemFault without pyarrow."""
    if options.storage is None:
        return
    if options.resume is not None:
        raise CommandLineError("KMC622", "a resumed run stays in its storage", help="leave out --storage")
    from kmc.shards.storage.remote_folder import require_address

    require_address(options.storage)
