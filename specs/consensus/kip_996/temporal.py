"""Specifications and temporal properties of both specs of KIP-996, beside the properties that their texts state.

`Spec` and `LivenessSpec` are upstream's. The others show which fairness a property needs.
"""

from kmc.spec import FAIR_ACTIONS, NEXT, spec, weak_fairness

from ..progress import every_server_fetches_again, every_server_gets_every_value, fetches_end, some_value_is_sent
from .cluster import Value
from .configurations import ServerId


@spec.specification
def Spec():
    """No fairness: anything may stop for ever."""
    return True


@spec.specification
def LivenessSpec():
    """Upstream's Fairness: each action that is declared `fair`, per server or pair."""
    return FAIR_ACTIONS


@spec.specification
def SNext():
    """Something happens as long as something can."""
    return weak_fairness(NEXT)


@spec.liveness
def CatchUp():
    """Every server gets each value that was sent."""
    return every_server_gets_every_value(ServerId, Value)


@spec.liveness
def FetchEnds():
    """From some time on no fetch is pending."""
    return fetches_end()


@spec.liveness
def FetchAgain():
    """Every server has a pending fetch again and again."""
    return every_server_fetches_again(ServerId)


@spec.liveness
def Sent():
    """Some value is sent."""
    return some_value_is_sent()
