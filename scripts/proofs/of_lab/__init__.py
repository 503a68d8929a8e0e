"""The promises that `scripts/prove lab` tries to break: one module for each."""
