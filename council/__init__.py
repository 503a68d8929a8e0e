"""council: members debate a question in rounds, and everything they say becomes files."""

__version__ = "0.2.0"
