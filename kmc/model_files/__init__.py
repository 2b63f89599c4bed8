"""Model files as data: TLC's `.cfg` files and the manifest `models.toml`, read strictly, with the place of every word.

Nothing here knows a spec: `kmc.frontend` binds a model file to one.
"""
