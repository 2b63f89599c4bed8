"""Values of a spec as typed code: their types, their packing into words, names in scope, and statements."""
