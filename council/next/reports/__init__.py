"""Reports: everything that follows from a record. Delete these files, build them again, get the same bytes.

`state` is the one object; every other file and message is a view of it. `section` is what optional rooms add.
"""
