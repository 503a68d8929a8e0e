"""Stands in for candidates, reviews, sandbox and planning, so that the kit's workflows load."""

rule = dict.fromkeys(("passes", "dry", "contested"), "words")
order = dict.fromkeys(("still", "winner", "tree"), "words")
view = dict.fromkeys(("mine", "standing", "up", "down", "beside"), "words")
answer = dict.fromkeys(("files", "findings", "rulings", "tasks"), "words")
seat = {"run": "a bench", "tests": "visible | hidden", "under": "the seat above"}
