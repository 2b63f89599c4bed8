"""Specs and models: how a spec package declares itself, is loaded, and is bound to the constants of a model.

A spec package writes `from kmc.spec import spec`. Everything else here is for kmc's own layers above.
"""

from kmc.liveness.formulas import always_eventually, for_all, leads_to
from kmc.spec.declare import STRONG, WEAK, spec

__all__ = ["STRONG", "WEAK", "always_eventually", "for_all", "leads_to", "spec"]
