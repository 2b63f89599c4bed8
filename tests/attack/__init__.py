"""`make attack`: drawn specs beside a brute force of its own, kills, damage and hostile inputs.

Invariant: what judges kmc here (`values`, `expressions`, `drawn_spec`, `oracle`, `lasso_judge`, `itf_states`) imports
nothing of kmc, so no mistake of kmc can hide in both. `checks`, `kills`, `damage` and `inputs` run kmc as a user does.
"""
