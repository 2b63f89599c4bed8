"""What a temporal property is. Formulas only: nothing here or elsewhere checks them yet, and a run says so."""
