"""Those who execute turns: a speaker takes a brief and gives a reply, or says why there is none. It decides nothing."""
