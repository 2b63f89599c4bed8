"""kmc in Python: the contents of `import kmc`, for notebooks, scripts and tests.

    spec = kmc.load("die_hard")                 a spec by name or path, with the constants of a model
    result = kmc.check(spec, "smoke")           every reachable state; a violation is part of the result
    result.ok, result.verdict, result.violated  what came out
    result.trace[5].big                         the fifth state of the counterexample, by the spec's own names
    result.assert_ok()                          for tests: fails with the trace and the reason
    kmc.initial_states(spec)                    single states,
    kmc.successors(spec, state)                 the steps from one,
    kmc.evaluate(spec, "TypeOK", state)         and what holds in it, or any expression
    kmc.simulate(spec, seed=7)                  random behaviours, where no search can finish

Conventions: functions accept a spec, or its name or path. States are immutable values of the spec; `spec.State` and all
that its files define are attributes of the spec. States of a trace are numbered from 1, as TLC and the command line
number them. A mistake in a spec, a model or an argument raises a KmcError with a code; a property that fails does not.

Not here: saved runs, resuming, shards and Spark, which only the command line has.
"""
