"""Actions: declaration, parameters, the next-state relation and coverage. Knows no engine."""
