"""Views of a story for people: text for a terminal, a page, diagrams. They return text; the command line prints it."""
