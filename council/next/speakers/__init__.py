"""Whoever executes a turn: a speaker takes a brief and gives a reply, or says why there is none. It decides nothing."""
