"""The workflow language: its nouns, words and registry, and the loader that turns a file into a program.

It plans nothing and knows no rule: names are checked against the registry, where other rooms put them.
"""
