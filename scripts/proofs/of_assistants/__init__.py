"""What `scripts/prove assistants` shows: one module for each promise."""
