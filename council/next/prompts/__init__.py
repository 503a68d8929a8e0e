"""What a due turn is asked: templates, rendered in a sandbox with facts of the debate so far."""
