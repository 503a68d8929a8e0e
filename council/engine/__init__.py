"""The planner and what it plans with: the scene, and the rules, orders and views that every protocol can use.

Pure: no clock, dice, disk or network. It knows no protocol.
"""
