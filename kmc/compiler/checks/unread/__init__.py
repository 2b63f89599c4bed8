"""State that nothing reads any more: fields and messages that a spec could drop, found in its text."""
