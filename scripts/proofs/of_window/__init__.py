"""The promises that `scripts/prove window` tries to break: one module for each."""
