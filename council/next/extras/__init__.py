"""The optional rooms. The core imports none of them: each says in its `room.py` what it adds."""
