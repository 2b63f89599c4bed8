"""The front end: from the files of a spec to a spec that is loaded, and from a model file to a model of it.

`sources` reads the files and `checks` refuses constructs that are not in the language; `rewrite` and `loader` execute
them once for a model; `model` binds the constants, properties and reductions that a model file names. Authors import
`kmc.spec`.
"""
