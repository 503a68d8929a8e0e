"""Who speaks: one small file a speaker. `base` says what a speaker is, `choice` finds the one to use."""
