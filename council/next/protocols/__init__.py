"""What protocols know beyond the language: what a debate came to, computed once from declared answers, and who sits.

`ids` gives recommendations, conditions and blocking items their ids, `voices` counts who supports what, `checks` says
what a reply must add up to, `outcome` draws the conclusion, and `casting` seats those whom a reply names.
"""

from council.next.protocols import casting, checks, voices

REGISTERED = (casting, checks, voices)  # importing them makes their words known to workflows
