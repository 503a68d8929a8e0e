"""Toys: an optional room that the core knows nothing about."""

rule = {"everybody_laughs": "words"}
order = {"backwards": "words"}
view = {"first_words": "words"}
answer = {"dice": "words"}
check = {"throw": "words"}
seat = {"hat": "red | blue"}
section = {"scores": "after"}
finished = {"applaud": "after"}
fact = {"mood": "facts"}
