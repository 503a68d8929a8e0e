"""How models word a list of findings: severities, fields, lines, and what a line begins with. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from council.reviews.model import SEVERITIES
from council.text import FENCE, MARKER, unwrapped

# Reading. The words that models use for the four severities; what is not here (important, serious) says no severity.

MEANS = {
    "blocking": r"blocking|blockers?|show-?stoppers?|critical|must[- ]fix|blockierend(?:e[rsn]?)?|kritisch(?:e[rsn]?)?"
    r"|bloquante?s?|critiques?|bloqueantes?|cr[ií]tic[oa]s?",
    "high": r"high|major|should[- ]fix|hoch|hohe[rsn]?|élevée?s?|haute|majeure?s?|alt[oa]s?",
    "medium": r"medium|moderate|mittel|moyen(?:ne)?s?|medi[oa]s?",
    "low": r"low|minor|nits?|nitpicks?|trivial|nice[- ]to[- ]have|could[- ]fix|niedrig|gering|faibles?|mineure?s?"
    r"|baj[oa]s?",
}
SIGNS = {"🔴": "blocking", "🛑": "blocking", "⛔": "blocking", "🟠": "high", "🟡": "medium", "🟢": "low", "🔵": "low"}
LETTERS = {severity[0]: severity for severity in SEVERITIES}
FIELDS = {
    "severity": "severity level priority prio sev schweregrad schwere priorität gravité sévérité severidad gravedad "
    "prioridad",
    "change": "change|proposed change|suggested change|recommended change|fix|proposed fix|suggested fix|suggestion"
    "|recommendation|remedy|resolution|solution|proposal|recommended action|recommended fix|example fix|fix example"
    "|proposed content|proposed text|suggested content|recommended solution|vorschlag|änderung|änderungsvorschlag"
    "|empfehlung|lösung|proposition|changement|changement proposé|correction|propuesta|cambio|cambio propuesto|solución"
    "|recomendación|recommandation",
    "issue": "issue problem finding description concern defect message befund mangel constat problème problema "
    "hallazgo",
    "place": "where location locations place anchor file files path line lines stelle ort datei zeile zeilen "
    "emplacement lieu fichier ubicación lugar",
    "passage": "passage|quote|original|current text|zitat|citation|cita",
    "more": "why|why this matters|why it matters|impact|reason|rationale|consequence|evidence|details|detail"
    "|explanation|risk|begründung|warum|impacto|pourquoi",
    "title": "title topic heading summary titel thema titre título",
    "number": "id|number|no|nr|ref|#|№",
    "ruling": "ruling|verdict|stance|position|urteil",
    "new": "replacement|new text|replacement text",
    "aside": "confidence|confidence level|effort|category|tags",
}
FIELD = {
    name: field for field, names in FIELDS.items() for name in (names.split("|") if "|" in names else names.split())
}

SEVERITY = "(?P<severity>" + "|".join(MEANS.values()) + ")"
GRADE = r"(?:[- ](?:severity|priority|prio))?"
NOUN = r"(?:[- ](?:severity|priority|prio|issues?|findings?|items?|problems?|points?|concerns?|probleme|punkte))?"
DASH = r"(?:\s[—–-]+(?=\s|$)|\s?[—–]\s?)"
SIGN = re.compile(f"({'|'.join(SIGNS)})\ufe0f?\\s*")
TAG = re.compile(rf"[\[(][*_\s]{{0,3}}(?:{SEVERITY}{NOUN}|P(?P<p>[0-3]))[*_\s]{{0,3}}[\])]", re.I)
COUNTED = re.compile(rf"{SEVERITY}[ #-]{{0,2}}(?P<count>\d{{1,3}})(?=[\s*_]{{0,4}}(?:[:.)—–]|-\s|$))", re.I)
REFERRED = re.compile(rf"\b{SEVERITY}[ #-]{{1,2}}(?P<count>\d{{1,3}})\b", re.I)
GRADED = re.compile(rf"{SEVERITY}{NOUN}[*_]{{0,3}}(?::[*_]{{0,3}}|{DASH}|[*_]{{2,3}}(?=\s))", re.I)
ID = r"(?:(?i:[BHML])[- ]?\d{1,3}|[A-Z]{1,8}-\d{1,3}|[A-Z]\d{1,3}|#\d{1,3}"
ID += r"|(?i:finding|issue|item|befund) ?#?\d{1,3})(?!\w)"
NUMBERED = re.compile(
    rf"(?:\[{{1,2}}|\(|`)(?P<marked>{ID})(?:\]{{1,2}}|\)|`)"
    rf"|(?P<bare>{ID})(?=[*_]{{2,3}}|\s*(?:[:.)|(\[—–]|-\s|→|->|=>|⇒|$)|\s+[\"“„«`A-ZÀ-Þ])"
)
PARTED = re.compile(r"[\s*_~]*(?:[:.|)\]](?!\w)[\s*_~]*|[—–]\s*|-\s+)?")
MARKS = re.compile(r"[\s*_~]*")
LISTED = re.compile(
    r"(\s*)(?:(?:[-*+•‣▪–—]|\d{1,3}[.)]|\([a-z0-9]\)|\[[ x]\])\s+"
    r"|\d{1,2}(?:\.\d{1,2}){1,2}\.?\s+(?=[A-ZÀ-Þ*\"“„`])|[-*•](?=[\[(]?[A-Z]{1,3}-?\d))"
)
ORDINAL = re.compile(r"\s*(?:#{1,6}\s+)?[*_]{0,3}\d{1,3}[.)]\s")
TITLED = re.compile(r"(#{1,6})\s+(.*?)\s*#*$")
EMBOLDENED = re.compile(r"(\*{2,3}|__)(?!\s)([^*_]{1,160}):?\1:?\s*$")
SIGNS_OF_CHANGE = r"[→⇒➜➔➡⟶]\ufe0f?"
# Not the one of "phase 3→4" or "A→B".
ARROW = re.compile(rf"-{{1,2}}>|={{1,2}}>|(?<!\d)(?<!\b[A-Z]){SIGNS_OF_CHANGE}|{SIGNS_OF_CHANGE}(?!\d|[A-Z]\b)|&rarr;")
SIGN_OF_ARROW = re.compile("[>→⇒➜➔➡⟶&]")  # in every arrow: where there is none, nobody needs to look for one
LABEL = re.compile(
    r"[\s*_]{0,4}(?P<name>" + "|".join(map(re.escape, sorted(FIELD, key=len, reverse=True))) + r")[*_]{0,3}\s{0,2}"
    r"(?P<end>[:=][*_]{0,3}|[*_]{2,3}\s*[—–-])\s*",
    re.I,
)
CHANGED = re.compile(
    r"(?:(?<=[.!?:;)\]\"”“»`])|(?<=\*)|(?<=_)|(?<=—)|(?<=–))\s{1,2}[*_]{0,3}(?:"
    + "|".join(sorted((name for name, field in FIELD.items() if field == "change"), key=len, reverse=True))
    + r")[*_]{0,3}\s?:[*_]{0,3}\s*",
    re.I,
)
SPANS = re.compile(r"`[^`\n]{1,400}`|“[^“”]{1,400}”|„[^„“”]{1,400}[“”]|«[^«»]{1,400}»|(?<!\w)\"[^\"\n]{1,400}\"", re.S)
QUOTED = re.compile(
    r"“([^“”]{8,600})”|„([^„“”]{8,600})[“”]|«([^«»]{8,600})»|(?<!\w)\"([^\"\n]{8,600})\"|`([^`\n]{8,600})`"
)
NAMED = r"(?<![\w./-])(?P<path>[\w./-]{1,200}\.[A-Za-z]{1,8})`?"
RANGE = r"(?P<first>\d{1,7})(?:\s?(?:[-–—]|to|bis|à)\s?L?(?P<last>\d{1,7}))?"
LINE = r"(?:lines?|zeilen?|lignes?|líneas?)\s{1,2}|L(?=\d)"
PLACED = re.compile(rf"{NAMED}(?::L?|#L|[,;]?\s{{1,2}}\(?(?:{LINE}))`?{RANGE}", re.I)
LINED = re.compile(rf"(?:{LINE}){RANGE}", re.I)
SECTIONED = re.compile(
    r"(?:§|\b(?:sections?|clauses?|chapters?|sec\.|abschnitt|kapitel|ziffer)\s)\s?(?P<section>\d{1,3}(?:\.\d{1,3}){0,4})\b",
    re.I,
)
WITHIN = re.compile(rf"\b(?:in|of|im|von)\s(?:the\s)?{SECTIONED.pattern}", re.I)
BARE = re.compile(r"^\s*(?P<section>\d{1,3}(?:\.\d{1,3}){1,4})\s*(?:$|[,;])")  # (2.3)
BRACKETED = re.compile(r"[\[(]([^\[\]()\n]{1,240})[\])]")
HOST = re.compile(r"\.(?:com|org|net|io|dev|de|fr|eu)$", re.I)
TAGS = re.compile(r"</?(?:details|summary|b|strong|p|ul|ol|li|em|i|finding)\b[^<>]{0,80}>", re.I)
THOUGHT = re.compile(r"<(/?)(?:think|thinking|scratchpad|analysis|reasoning)>", re.I)
SEPARATES = re.compile(r"\s*(?:\|\s*)?:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?$")
LEAVES = re.compile(
    r"\b(?:strengths?|what works|works well|positives?|good|liked?|praise|summary|overall|conclusion|verdict"
    r"|next steps?|actions?|recommendation|assessment|fazit|zusammenfassung|stärken|résumé|conclusions?|thanks?"
    r"|questions?|notes?"
    r"|key|legend|approach|scope)\b",
    re.I,
)
# What was said before and is mended: whatever is in there is no finding of this review.
MENDED = re.compile(
    r"\b(?:issues?|findings?|items?|concerns?|problems?|comments?) (?:that (?:were|have been) )?(?:now )?"
    r"(?:addressed|resolved|fixed|closed|mended)\b"
    r"|^\W*(?:resolved|fixed|addressed|closed|previous(?:ly)?|original|earlier|prior)\b"
    r"(?=.*(?:issues?|findings?|items?|concerns?|problems?|addressed|resolved|fixed|closed)\b)|^\W*(?:resolved|fixed)\W*$",
    re.I,
)
HOLDS = re.compile(r"\b(?:findings?|issues?|problems?|concerns?|befunde|mängel|does not|doesn't)\b", re.I)
CLOSES = re.compile(
    r"[\s*_]*(?:overall|in (?:short|summary|sum|conclusion|total)|summary|to sum|conclusion|that['’]?s (?:all|it)"
    r"|that is all"
    r"|everything else|the rest|otherwise|bottom line|verdict|fazit|insgesamt|zusammen|en résumé|en resumen|let me know"
    r"|i hope|hope|happy to|thank|apart from|beyond (?:these|that)|nothing else|no (?:other|further|more)|final"
    r"|three of|with (?:these|those)|once (?:these|those))\b",
    re.I,
)
ABSENT = re.compile(
    r"(?<!\w)(?:(?:no|zero|keine[rn]?|aucune?|ningún|ninguna?)\s+(?:(?:new|further|other|additional|more|blocking|major"
    r"|serious|open|real|weiteren?|neuen?)\s+){0,3}(?:findings?|issues?|concerns?|problems?|objections?|blockers?|remarks?"
    r"|befunde?|einwände|mängel|anmerkungen|remarques?|problèmes?|observaciones)"
    r"|findings:\W{0,4}none|nothing (?:to (?:report|flag)|found)|lgtm|looks good to me|nichts (?:zu|gefunden))(?!\w)",
    re.I,
)
BUT = re.compile(
    r"\b(?:but|however|except|although|though|unless|apart from|aber|jedoch|allerdings|mais|pero|sauf)\b", re.I
)
IN_PROSE = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"\b{SEVERITY}{GRADE}\s{{1,2}}(?:issue|problem|concern|finding|gap|defect|point|one|flaw)\b",
        rf"\*\*{SEVERITY}\*\*(?!\s{{1,2}}(?:issues|problems|concerns|findings|gaps|defects|points|flaws)\b)",
        rf"\b(?:severity|priority|schweregrad)[\s*_]{{0,4}}(?:is|[:=])[\s*_]{{0,4}}{SEVERITY}\b",
        r"\b(?:is|as|it|this)\s{1,2}(?:a\s)?(?P<severity>blocking|blocker|critical)\b(?!\s(?:that|to|for|path)\b)",
    )
)
DENIED = re.compile(r"(?:\d|\b(?:no|not|any|without|never|nor|kein\w{0,2}|nicht)|n't)\W{1,4}$", re.I)


# Reading a reply line by line.

NOTHING = re.compile(
    r"\W{0,12}(?:there (?:are|is) (?=no)|i (?:have|found|see) (?=no))?"
    r"(?:none|nothing|nil|n/?a|not applicable|keine[rns]?|nichts|aucune?|ningun[oa]?"
    r"|no (?:(?:blocking|critical|high|major|medium|low|minor|serious|further|other|new)(?: (?:severity|priority))? )?"
    r"(?:items?|issues?|findings?|concerns?|blockers?|problems?))"
    r"(?: (?:so far|identified|found|from (?:me|my (?:side|end))|here|at (?:this|the) \w{1,10}))?"
    r"[*_]{0,3}(?=\W*$|[.:;(,]|\s[—–-]+\s|—)",
    re.I,
)
RULED = re.compile(r"\s*(?:[-*_]\s*){3,}")


def is_nothing(words: str) -> bool:
    if not any(map(str.isalnum, words)):
        return True
    match = NOTHING.match(words)
    return match is not None and not BUT.search(words, match.end())


def severity_of(words: str) -> str:
    """The severity that a word of the table names, in any case; empty for every other."""
    return next((name for name, means in MEANS.items() if re.fullmatch(means, words.strip(), re.I)), "")


# A reply's lines: what is its author's own, less thinking, tags, and passages that stand between marks.


@dataclass(frozen=True)
class Line:
    text: str
    kind: str = "text"  # text | quote | fence | code
    block: tuple[str, str] | None = None  # of a fence: what it is called, and what stands in it

    @property
    def margin(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def own_lines(text: str, brief: str) -> list[Line]:
    lines = _spoken(unwrapped(text.splitlines()), brief)
    if any(line.lstrip().startswith((r"\*\*", r"\- ", r"\#")) for line in lines):
        lines = [re.sub(r"\\([*\-_#>])", r"\1", line) for line in lines]
    return list(_fenced(lines))


def _spoken(lines: list[str], brief: str) -> list[str]:
    """Less what was thought aloud between tags, and less what stands between the brief's own marks."""
    keys = {match.group(2) for match in MARKER.finditer(brief)}
    kept: list[str] = []
    said = ""
    closing = [number for number, line in enumerate(lines) if (tag := THOUGHT.search(line)) and tag.group(1)]
    end = closing[-1] if closing else -1
    thinking = end >= 0 and not any((tag := THOUGHT.search(line)) and not tag.group(1) for line in lines[:end])
    for number, line in enumerate(lines):
        markers = [match.groups() for match in MARKER.finditer(line) if match.group(2) in keys]
        for closes, key in markers:
            said = said if said not in ("", key) else "" if closes else key
        tag = THOUGHT.search(line)
        if tag and number <= end:
            thinking = not tag.group(1) or (number < end and THOUGHT.search(line, tag.end()) is not None)
        elif not (thinking or markers or said):
            kept.append(line)
    return kept


def _fenced(lines: list[str]) -> Iterator[Line]:
    """Each line by its kind. A block of code is one line with what stands in it; one that never ends has no name."""
    number = 0
    while number < len(lines):
        line = lines[number].expandtabs(4)
        number += 1
        if not (opened := FENCE.match(line)):
            plain = TAGS.sub("", line)
            yield Line(line, "quote") if line.lstrip().startswith(">") else Line(plain)
            continue
        inner: list[str] = []
        closed = False
        while number < len(lines) and not closed:
            closes = FENCE.match(lines[number])
            closed = bool(closes and closes.group(1).startswith(opened.group(1)) and not closes.group(2).strip())
            inner += [] if closed else [lines[number].expandtabs(4)]
            number += 1
        name = (opened.group(2).split() or [""])[0].lower()
        yield from _block(line, name if closed else f"{name} unclosed".strip(), inner)


def _block(line: str, name: str, inner: list[str]) -> Iterator[Line]:
    """A list that stands in a block of its own is a list; any other block is code."""
    margin = len(line) - len(line.lstrip())
    lists = name.split()[:1] in (["markdown"], ["md"], ["text"], ["yaml"], ["yml"], [])
    if lists and margin == 0 and any(grouped(text) or _listed(text) for text in inner):
        yield Line("")
        yield from (Line(text, "quote" if text.lstrip().startswith(">") else "text") for text in inner)
    else:
        cut = [text[min(margin, len(text) - len(text.lstrip())) :].rstrip() for text in inner]
        yield Line(line, "fence", (name, "\n".join(cut)))


def _listed(text: str) -> bool:
    lead = lead_of(text)
    return bool(lead.number[:1].upper() in LETTERS and lead.number[1:].isdigit()) or bool(
        re.match(r"\s*-\s(?:id|severity):", text)
    )


RULES = re.compile(r"\b(?:rulings?|challenges?|responses?|others?'?|peers?|agree\w*|disagree\w*|withdraw\w*)\b", re.I)
LISTS = re.compile(r"\W*(?:\d[.)]\s)?(?:(?:my|own|new|further|additional|more)\s){0,3}findings?\W*", re.I)


def in_own_list(lines: list[Line]) -> list[bool]:
    """For each line whether it is under a heading "Findings": there a number is the author's own, and no id."""
    found: list[bool] = []
    level = 0  # of the heading of the list; 0 outside of it
    for line in lines:
        titled = TITLED.match(line.text.strip()) if line.kind == "text" else None
        bold = EMBOLDENED.match(line.text.strip()) if line.kind == "text" else None
        if (titled or bold) and not grouped(line.text):
            own, words = (len(titled[1]), titled[2]) if titled else (7, bold[2] if bold else "")
            if RULES.search(words):
                level = 0
            elif LISTS.fullmatch(words):
                level = level or own
            elif own <= level < 7 and not lead_of(words).number:
                level = 0
        found.append(level > 0)
    return found


# What a line begins with.


@dataclass(frozen=True)
class Lead:
    """The beginning of an item: its author's number, its severity where the item names it, and the text behind."""

    number: str = ""
    severity: str = ""
    text: str = ""
    bullet: bool = False


def lead_of(line: str) -> Lead:
    bullet = LISTED.match(line)
    text = line[bullet.end() :] if bullet else line.strip()
    number = severity = ""
    place = 0
    for _ in range(6):
        place = _after(MARKS, text, place)
        if sign := SIGN.match(text, place):
            severity, place = severity or SIGNS[sign.group(1)], sign.end()
        elif not severity and (tag := TAG.match(text, place)):
            severity, place = tagged(tag), _after(PARTED, text, tag.end())
        elif not (number or severity) and (counted := COUNTED.match(text, place)):
            severity = severity_of(counted.group("severity"))
            number = severity[0].upper() + counted.group("count")
            place = _after(PARTED, text, counted.end())
        elif not number and (numbered := NUMBERED.match(text, place)):
            number = numbered.group("marked") or numbered.group("bare")
            place = _after(PARTED, text, numbered.end())
        elif not severity and (graded := GRADED.match(text, place)):
            severity, place = severity_of(graded.group("severity")), graded.end()
        else:
            break
    return Lead(re.sub(r"(?<=^[A-Za-z])[- ](?=\d)", "", number), severity, text[place:].strip(), bullet is not None)


def _after(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    return match.end() if match else place


def tagged(match: re.Match[str]) -> str:
    return SEVERITIES[int(match.group("p"))] if match.group("p") else severity_of(match.group("severity"))


@dataclass(frozen=True)
class Section:
    """A severity's heading. One that names two (MEDIUM/LOW) means the more severe, if the number says nothing else."""

    severities: tuple[str, ...]
    initials: str = ""
    level: int = 7
    rest: str = ""
    heading: bool = False


SECOND = SEVERITY.replace("<severity>", "<second>")
GROUP = re.compile(
    rf"{SEVERITY}(?:[*_]{{0,3}}\s{{0,2}}(?:[/&+,]|and|und|et|y)\s{{0,2}}[*_]{{0,3}}{SECOND})?"
    rf"{NOUN}[*_]{{0,3}}\s{{0,3}}(?:[\[(]\d{{1,3}}[\])])?[*_]{{0,3}}(?P<end>\s{{0,3}}:[*_]{{0,3}}|{DASH}|[*_]{{2,3}}(?=\s)|(?=\s{{0,2}}\()|\s*$)",
    re.I,
)


def grouped(line: str) -> Section | None:
    """The line as the heading of a severity's items, with whatever else stands on it."""
    titled = TITLED.match(line.strip())
    bullet = LISTED.match(line)
    text = titled.group(2) if titled else line[bullet.end() :] if bullet else line.strip()
    text = re.sub(r"^\d{1,2}[.)]\s+", "", text)
    while sign := SIGN.match(text := text.lstrip(" *_")):
        text = text[sign.end() :]
    match = GROUP.match(text)
    rest = text[match.end() :].strip(" *_:") if match else ""
    if not match or SIGN.search(rest):
        return None
    named = [match.group("severity"), *filter(None, [match.group("second")])]
    severities = tuple(sorted({severity_of(word) for word in named}, key=SEVERITIES.index))
    level = len(titled.group(1)) if titled else 7
    bold = line.strip().lstrip("#-*+• ").startswith(("**", "__")) or line.strip().startswith("**")
    return Section(severities, "".join(word[0].upper() for word in named), level, rest, bool(titled) or bold)
