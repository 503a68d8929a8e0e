"""The engine: from a workflow and the turns so far, the turns that may be spoken now. Pure, and it knows no protocol.

`planner` walks the workflow, `scene` is all that it knows on its way, and rules, orders and views are the words that a
workflow may use. What only one protocol knows is registered from that protocol's own room.
"""
