"""The states that a model would save without the state that nothing reads any more."""
