"""What a terminal shows: results, progress, questions to a person, and errors."""
