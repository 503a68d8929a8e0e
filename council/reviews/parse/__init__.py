"""Reads the findings and rulings that members wrote, in whatever shape they wrote them.

Pure. What a finding means to the debate is not decided here.
"""
