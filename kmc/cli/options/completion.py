"""The completions of a shell: the shipped specs, the models of a spec's manifest, and files.

Completion itself is click's: `eval "$(_KMC_COMPLETE=bash_source kmc)"` installs it, with zsh_source and fish_source for
the other shells.
"""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from kmc.errors import KmcError


class SpecName(click.types.StringParamType):
    """A spec as it is typed: a shipped one by name, or a path; both are completed."""

    name = "spec"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The shipped specs that begin so, then the files and folders."""
        # Imported here: a command imports specs when it needs them.
        from kmc.frontend.shipped import shipped_specs

        names = [CompletionItem(name) for name in shipped_specs() if name.startswith(incomplete)]
        return [*names, CompletionItem(incomplete, type="file")]


class ModelName(click.types.StringParamType):
    """A model of the spec before it: a name of its manifest, or a `.cfg` file; both are completed."""

    name = "model"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The models that begin so, each with its title, then the files and folders."""
        from kmc.frontend.shipped import find_spec_root, manifest_of

        spec = ctx.params.get("spec")
        try:
            manifest = manifest_of(find_spec_root(spec)) if spec else None
        except (KmcError, OSError):
            manifest = None
        entries = manifest.entries if manifest is not None else {}
        names = [CompletionItem(name) for name in entries if name.startswith(incomplete)]
        return [*names, CompletionItem(incomplete, type="file")]


SPEC_TYPE, MODEL_TYPE = SpecName(), ModelName()
