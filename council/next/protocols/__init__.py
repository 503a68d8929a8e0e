"""What protocols know beyond the language: what a debate came to, computed once from declared answers, and who sits.

`ids` gives recommendations, conditions and blocking items their ids, `voices` counts who supports what, `outcome` draws
the conclusion. `answers` lists the answers that are read by name, `checks` says what a reply must add up to, and
`casting` seats those whom a reply names.
"""

from council.next.protocols import answers, casting, checks, voices

REGISTERED = (answers, casting, checks, voices)  # importing them makes their words known to workflows
