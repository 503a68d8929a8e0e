"""The states that sessions are filtered by. Imports nothing, because help lists them."""

OPEN = ("running", "waiting", "paused", "interrupted")
REAL = ("complete", *OPEN, "damaged")  # what `council status` says
STATES = (*REAL, "finished", "unfinished")  # the last two are what the metadata say
