"""A room of one file for each kind of word, to show that the core finds them by their names alone."""
