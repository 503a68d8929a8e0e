"""The forms of sentences that settle, accept or keep a concern, and the words that take such a sentence back."""

from __future__ import annotations

import re

from council.replies.values import TAKEN_BACK

ID = re.compile(r"(?<![\w-])[Cc](\d{1,5})(?![\w-])")
IDS = r"(?<![\w-])[Cc]\d{1,5}(?![\w-])(?:[\s,;:)\]*_/&+]{1,4}(?:(?:and|or)\s+)?[Cc]\d{1,5}(?![\w-])){0,20}"

# ---- sentences, and the clauses of one ----

QUOTED = re.compile(
    r"^[ \t]*>.*(?:\n(?![ \t]*$).+)*|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|\u2018[^\u2018\u2019\n]*\u2019(?!\w)"
    r"|\"[^\"\n]*\"|(?<![\w*_`])'[^'\n]*'(?!\w)|`[^`\n ]* [^`\n]*`",
    re.M,
)
SENTENCE = re.compile(r"(?<=[.!?…])[*_)”\"']*\s+|[;\n]+")
STATES = (
    r"is|are|was|were|isn['’]t|aren['’]t|has|have|hasn['’]t|haven['’]t|stays?|remains?|stands?|still|must|needs?"
    r"|should|will|cannot|blocks?"
)
OWN = r"(?:(?:not|I|we|still|do|don['’]t|keep|hold|maintain|withdraw|accept|cannot|my|concern)\s+){0,5}"
CUT = re.compile(  # where another concern's clause begins
    rf",?\s{{1,9}}(?:but|and|while|whereas|yet|(?:al)?though|however)\s+(?={IDS},?\s+(?:{STATES})\b)"
    rf"|,\s{{1,9}}(?={IDS}\s+(?:{STATES})\b)|,?\s{{1,9}}but\s+(?={OWN}{IDS})",
    re.I,
)

# ---- what settles ----

WITHDRAWN = r"withdrawn|dropped|retracted"
ANSWERED = r"answered|addressed|resolved|settled|solved|met(?!\s+with\b)|fixed|satisfied|closed|mitigated|removed"
WITHDRAW = rf"withdraw|withdrew|drop|retract|{WITHDRAWN}"
ANSWER = rf"answers|addresses|resolves|settles|solves|meets|fixes|satisfies|closes|mitigates|removes|{ANSWERED}"
ACCEPT = r"accept|accepting|accepted"
LINKS = r"(?:(?:is|are|was|were|has|have|been|now|fully|thus|therefore|all|both|hereby|already|done and)\s+)*"
ADVERBS = r"(?:\s+(?:do|have|hereby|now|also|therefore|thus|then|gladly|happily|fully|formally|explicitly))*"
# What somebody else does to a concern settles nothing: the subject is a first person, or there is none.
MYSELF = rf"\b(?:I|we)(?:[^,;:]{{0,120}}\band)?{ADVERBS}\s+"
NOBODY = r"[\W_]*(?:(?:so|therefore|thus|and|then|now|hereby|please|yes)\b,?\s*)*"
# What may follow. "by the Architect" goes on with the statement, "packets under load" makes it another one.
CLOSED = r"[\s*_`)\]~]*(?:$|[.,:;!(?|–—/]|-\s)"
MORE = (
    r"in|on|with|through|via|at|from|because|since|for|thanks|and|now|already|here|there|too|also|entirely|completely"
    r"|fully|well|after all|if|when|as (?:\w+ )?(?:in|by|soon|far|long)"
)
A_RISK = r"(?:an? )?(?:(?:known|residual|acceptable|tolerable|small) )?risks?(?! of)"
AS_IT_IS = rf"as (?:it (?:is|stands)|they (?:are|stand)|{A_RISK})"
CONCERNS = r"my|our|the|this|these|those|concerns?|items?|blockers?|blocking|both|all of"
RISKS = rf"{CONCERNS}|open|remaining|known|residual|risks?|challenges?|costs?|consequences?|of|in|from|named|\w+['’]s"


def followed_by(*more: str) -> str:
    return rf"(?={CLOSED}|[\s*_`)\]~]+(?:{'|'.join((*more, MORE))})\b)"


def compile_forms(participles: str, verbs: str, subject: str, between: str, behind: str) -> re.Pattern[str]:
    """ "C2 is answered …", with the ids `before`, and "… answers C2", with the ids `after`."""
    passive = rf"(?P<before>{IDS})[\W_]{{0,5}}{LINKS}(?:{participles})\b{behind}"
    active = rf"{subject}(?:{verbs})(?:\s+(?:{between})){{0,6}}?[\W_]{{1,4}}(?P<after>{IDS})(?!['’]){behind}"
    return re.compile(rf"{passive}|{active}", re.I)


ANYBODY = r"\b"
ACCEPTS_IT = rf"(?:{MYSELF}|(?:^|[,:(–—]|\band(?=\s)){NOBODY})"
BEHIND_ACCEPTED = followed_by("by (?:me|us)", AS_IT_IS)
WITHDRAWS = compile_forms(WITHDRAWN, WITHDRAW, rf"(?:{MYSELF}|^{NOBODY})", CONCERNS, followed_by("by (?:me|us)", "as"))
ANSWERS = compile_forms(ANSWERED, ANSWER, ANYBODY, CONCERNS, followed_by("by", "as"))
ACCEPTS = compile_forms("accepted", ACCEPT, ACCEPTS_IT, RISKS, BEHIND_ACCEPTED)
REFUSES = re.compile(
    r"(?:\b(?:not|never|cannot|refuse to)|n['’]t)\s+(?:\w+\s+){0,2}?accept"
    rf"(?:\s+(?:{RISKS})){{0,6}}?[\W_]{{1,4}}(?P<after>{IDS})",
    re.I,
)
SETTLED_ITEM = re.compile(rf"{LINKS}(?:{WITHDRAWN}|{ANSWERED})\b", re.I)  # behind its id, an item that ends a concern
WHAT_IS_OPEN = (
    r"(?:\s+(?:of|the|these|those|them|it|that|is|are|still|open|remain\w*|concerns?|items?|risks?|challenges?))*"
)
EVERYTHING = rf"(?:(?:all|every(?:thing)?){WHAT_IS_OPEN}|what(?:ever)? is (?:still )?open)"
ALL_OPEN = re.compile(rf"{ACCEPTS_IT}(?:{ACCEPT})\s+{EVERYTHING}{BEHIND_ACCEPTED}", re.I)

# ---- what keeps a concern open ----

OPEN = r"open|re-?opened|back|unanswered|unresolved|unaddressed|unsettled|unsolved|blocking|a blocker"
IS_NOT = r"(?:is|are|has|have)(?:n['’]t|\s+not|\s+never)(?:\s+(?:yet|been|fully|really))*"
KEEP = (
    r"re-?open|reinstate|renew|re-?raise|keep|maintain|uphold|stand by|insist on|hold"
    rf"|(?:do not|don['’]t|cannot|can['’]t|will not|won['’]t)\s+(?:{WITHDRAW})"
)
KEEPS = re.compile(
    rf"(?P<before>{IDS})[\s*_)\]]*\s(?:(?:still|also)\s+)?(?:(?:remains?|stands?|blocks?)\b|stays?\s+(?:{OPEN})\b"
    rf"|(?:is|are)\s+(?:still\s+|again\s+)?(?:{OPEN})\b|{IS_NOT}\s+(?:{ANSWERED}|{WITHDRAWN}))"
    rf"|\b(?:I|we)(?:\s+(?:still|now|also|therefore|thus|do|must|have to))*\s+(?:{KEEP})"
    rf"(?:\s+(?:{CONCERNS}))*\s+[\W_]{{0,3}}(?P<after>{IDS})(?!['’])",
    re.I,
)
GONE = re.compile(r"\b(?:no longer|not (?:reopen|keep|maintain|insist)|nothing of|nobody|hardly)\b", re.I)

# ---- what takes a sentence back ----

LIMITS = re.compile(  # anywhere in it
    r"\b(?:as (?:soon|far) as|as (?:if|though)|when(?:ever)?|whether|otherwise|in case|so that|or else|or not"
    r"|for (?:now|the moment|the time being)|so far|in (?:part|principle|theory|spirit|name)|on paper"
    r"|to (?:some|a) (?:extent|degree)|temporar\w+|provisional\w*|tentative\w*|re-?open\w*|reinstat\w*|re-?rais\w*)\b",
    re.I,
)
CONDITIONAL = re.compile(
    r"\b(?:if|unless|until|provided|once|condition\w*|pending|subject to|assuming|contingent|depend\w*"
    rf"|(?:as|so) long as)\b|{LIMITS.pattern}",
    re.I,
)
HEAD_END = re.compile(r"[:(,–—]|\s-\s|\b(?:because|since|as)\b", re.I)
DOUBT = re.compile(  # in its main clause
    r"\b(?:not|never|no|nobody|nothing|none|neither|nor|few|little|hardly|barely|scarcely|rarely|cannot|must|should"
    r"|shall|would|could|may|might|will|to be|needs?|has to|have to|want|wish|before|part(?:ly|ially)|half|mostly"
    r"|almost|nearly|largely|broadly|somewhat|only|yet|still|remains?|un\w+ed|insufficient\w*|inadequate\w*|poorly"
    r"|badly|later|soon|eventually|next|too \w+|doubt\w*|refus\w*|declin\w*|den(?:y|ies|ied|ying)|fail\w*|wrong\w*"
    r"|false\w*|claim\w*|pretend\w*|hop(?:e|es|ed|ing)|expect\w*|suppos\w*|wonder\w*|seem\w*|appears?|apparently"
    r"|probably|perhaps|maybe|likely|premature\w*)\b|n['’]t\b",
    re.I,
)
REPORTED = re.compile(  # shortly before it: somebody else's words or wish, or another concern than that one
    r"\b(?:says?|said|argue[sd]?|state[sd]|insist(?:s|ed)|suggest(?:s|ed)|report(?:s|ed)|thinks|thought|believes"
    r"|believed|considers|calls|called|wrote|writes|according to|asks?|asked|urge[sd]?|invite[sd]?|gets?|after"
    r"|by the time|wherever|instead of|rather than|without|unlike|contrary to|apart from|aside from|besides|save for"
    r"|other than|excluding)\b(?:[\s,:]+[\w'’]+){0,8}[\W_]*$|^\W*\[ \]",
    re.I,
)
OF_IT = re.compile(  # right before the id: it is not the concern that is settled
    r"\b(?:of|in|about|behind|with|from|for|to|under|on|by|at|around|beyond|given|like|than|as|since)\s+[\W_]*$", re.I
)
ALL_OF_IT = re.compile(r"(?:\b(?:both|all) of|^\W*with)\s+[\W_]*$", re.I)
REVOKED = re.compile(  # in what follows a comma
    r"\b(?:again|anew|still|only|yet|no longer|any ?more|at least|part(?:ly|ially)|(?:is|are|now|it) open"
    r"|(?:is|are|came|comes|it|them) back|not (?:yet|really|fully|entirely|quite|wholly|completely|all|at all|enough"
    r"|sure|convinced|satisfied))\b",
    re.I,
)
DENIED = re.compile(  # at the beginning of what explains it
    r"\W*(?:(?:not|no)(?=\W*$|[,.;]| (?:yet|really|fully|entirely|quite|at all)\b)|never|hardly|partly|partially|only"
    r"|almost|nearly|half|by (?:nobody|no one|nothing))\b",
    re.I,
)
TAKES_BACK = re.compile(rf"{TAKEN_BACK.pattern}|{LIMITS.pattern}", re.I)
HAS_VERB = re.compile(rf"\b(?:{STATES}|{WITHDRAW}|{ANSWER}|{ACCEPT}|not)\b", re.I)
EITHER = re.compile(r"\bor\b", re.I)
