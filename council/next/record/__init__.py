"""The record: a session's folder, which is the debate. Only this room writes to it.

`files` writes durably, `lock` lets one process write, `turn_file` is one turn with its receipt, `create` makes a
session whole, `session` is the folder as an object, `proof` says what was changed in it, `catalog` finds sessions, and
`desk` holds what others leave for the process that runs one.
"""
