"""Templates that would make a huge text, a huge list or an endless computation.

A test renders each of them, and the proof of hostile repositories brings some of them along.
"""

from __future__ import annotations

MILLION = "{% set m = 'A' * 1000000 %}"
LISTS = "{% set n = namespace(x=[1, 1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}"
TEXTS = "{% set n = namespace(x='A') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}"
FANS = "".join(f"{{% macro m{n}() %}}{{{{ m{n + 1}() }}}}{{{{ m{n + 1}() }}}}{{% endmacro %}}" for n in range(40))
BLOCKS = "".join(
    f"{{% block b{n} %}}{{{{ self.b{n + 1}() }}}}{{{{ self.b{n + 1}() }}}}{{% endblock %}}" for n in range(40)
)


BOMBS = {
    "times": "{{ 'A' * 3000000000 }}",
    "times, computed": "{% set n = 3000000000 %}{{ n * 'A' }}",
    "times of times": "{% set a = 'A' * 100000 %}{{ a * 100000 }}",
    "a list of times": "{{ ([0] * 1000000000) | length }}",
    "power": "{{ 9 ** 9 ** 9 }}",
    "power, computed": "{% set n = 999999999 %}{{ n ** n }}",
    "round": "{{ 1 | round(9999999999, 'ceil') }}",
    "round to the left": "{{ 5 | round(-9999999999) }}",
    "a long number from a text": "{{ ('F' * 9000000) | int(base=16) // (('F' * 4500000) | int(base=16)) > 1 }}",
    "a long number in base 16": "{{ 0x" + "F" * 5000 + " > 1 }}",
    "a long number that divides": "{% set n = 7 is divisibleby(('F' * 9000000) | int(base=16)) %}",
    "squares": "{% set n = namespace(x=9) %}{% for i in range(99) %}{% set n.x = n.x * n.x %}{% endfor %}",
    "padded by a format": "{{ '%1000000000d' % 1 }}",
    "padded by a format with a key": "{{ '%(a)9999999999d' % {'a': 1} }}",
    "padded, its key in brackets": "{{ '%(a(b)c)9999999999d' % {'a(b)c': 1} }}",
    "padded by an argument": "{{ '%*d' % (1000000000, 1) }}",
    "a format of many": MILLION + "{{ ('%(a)s' * 100000) % {'a': m} }}",
    "str.format": "{{ '{:1000000000}'.format(1) }}",
    "str.format_map": "{{ '{a:1000000000}'.format_map({'a': 1}) }}",
    "the filter format": "{{ '%1000000000d' | format(1) }}",
    "center": "{{ 'A'.center(1000000000) }}",
    "the filter center": "{{ 'A' | center(1000000000) }}",
    "ljust": "{{ 'A'.ljust(1000000000) }}",
    "zfill": "{{ 'A'.zfill(1000000000) }}",
    "expandtabs": "{{ '\t'.expandtabs(1000000000) }}",
    "to_bytes": "{{ (1).to_bytes(1000000000, 'big') }}",
    "indent": "{{ 'A\nB' | indent(1000000000) }}",
    "wordwrap": MILLION + "{{ m | wordwrap(1, wrapstring=m) }}",
    "replace": MILLION + "{{ m | replace('A', m) }}",
    "replace, a method": MILLION + "{{ m.replace('A', m) }}",
    "replace, folded": "{{ '" + "A" * 5000 + "' | replace('A', '" + "B" * 50_000 + "') }}",
    "join": MILLION + "{{ range(100000) | join(m) }}",
    "join, a method": MILLION + "{{ m.join('A' * 100000) }}",
    "join, a comma": MILLION + "{{ m | join(m) }}",
    "batch": "{{ [1] | batch(1000000000, 0) | list | length }}",
    "slice": "{{ [1] | slice(1000000000) | list | length }}",
    "slices of slices": "{{ ([[1]] * 10000) | map('slice', 1000) | map('list') | list | length }}",
    "tojson": MILLION + "{{ {'a': {'b': 1}} | tojson(indent=1000000000) }}",
    "tilde": TEXTS + "{{ n.x | length }}",
    "a wide tilde": MILLION + "{{ (" + " ~ ".join(["m"] * 5000) + ") | length }}",
    "plus": "{% set n = namespace(x='A') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "plus of lists": "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "lists in lists, printed": LISTS + "{{ n.x }}",
    "lists in lists, joined": LISTS + "{{ n.x | join }}",
    "lists in lists, compared": LISTS + "{{ n.x == [n.x, 1] }}",
    "lists in lists, as a key": LISTS.replace("[", "(").replace("]", ")") + "{{ {n.x: 1}[n.x] }}",
    "mappings in mappings": LISTS.replace("[n.x, n.x]", "{'a': n.x, 'b': n.x}") + "{{ n.x }}",
    "namespaces in namespaces": LISTS.replace("[n.x, n.x]", "[namespace(a=n.x), namespace(a=n.x)]") + "{{ n }}",
    "dict": LISTS.replace("[n.x, n.x]", "dict(a=n.x, b=n.x)") + "{{ n.x }}",
    "arguments": "{% macro f() %}{{ varargs }}{% endmacro %}" + LISTS + "{{ f(n.x, n.x) }}",
    "lipsum": "{{ lipsum(n=100000) }}",
    "filters in filters": "{% set n = namespace(x=['&' * 1000000]) %}{% for i in range(100) %}"
    "{% set n.x = n.x | map('escape') | map('title') %}{% endfor %}{{ n.x | first | length }}",
    "many pieces": "{{ ('AA ' * 15000000).split(' ') | length }}",
    "many lines": "{{ ('AA\n' * 15000000).splitlines() | length }}",
    "range": "{{ range(10 ** 9) | list }}",
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "loops that find nothing": "{% for a in range(999) %}{% for b in range(99999) if a > b %}x{% endfor %}{% endfor %}",
    "loops in one": "{% for a in range(99999) %}{% for b in range(99999) %}{{ a }}{% endfor %}{% endfor %}",
    "a long text in a loop": "{% for a in range(49999) %}" + "A" * 50_000 + "{% endfor %}",
    "a long text, kept": "{% set x %}{% for a in range(49999) %}"
    + "A" * 50_000
    + "{% endfor %}{% endset %}{{ x | length }}",
    "a long text, printed": MILLION + "{% for a in range(9999) %}{{ m }}{% endfor %}",
    "a long text, cut": MILLION + "{% for a in range(49999) %}{% set b = m[1:] %}{% endfor %}",
    "comparisons": MILLION + "{% set k = 'A' ~ m[1:] %}{% for a in range(49999) %}{{ m == k }}{% endfor %}",
    "recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "recursion in two": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "macros that fan out": FANS + "{% macro m40() %}{% endmacro %}{{ m0() }}",
    "blocks that fan out": BLOCKS + "{% block b40 %}{% endblock %}",
    "a recursive loop": "{% for a in [1, 2] recursive %}{{ loop([1, 2]) }}{% endfor %}",
    "a call block": "{% macro f(n) %}{% if n %}{{ caller(n) }}{% endif %}{% endmacro %}"
    "{% macro g(n) %}{% call(k) f(n) %}{{ g(k - 1) }}{{ g(k - 1) }}{% endcall %}{% endmacro %}{{ g(60) }}",
    "brackets": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "deep blocks": "{% if true %}" * 200 + "x" + "{% endif %}" * 200,
    "a long number": "{{ " + "9" * 5000 + " * 1 }}",
    "sums": "{{ [[1]] | map('list') | sum(start=[0] * 100000000) | length }}",
}
# What templates do all the time, with what it gives.
HARMLESS = {
    "{{ '-' * 20 ~ ['b', 'c'] | join('; ') }}": "-" * 20 + "b; c",
    "{% for i in range(3) %}{{ loop.cycle('a', 'b') }}{% endfor %}": "aba",
    "{{ '%.1f %s' % (2.25, 'x') }}": "2.2 x",
    "{{ 'a b'.replace('a', 'c').upper().split() }}": "['C', 'B']",
    "{{ {'a': 1}.get('a') + 2 ** 8 }}": "257",
    "{% macro f(x) %}<{{ x }}>{% endmacro %}{{ f('a') ~ f('b') }}": "<a><b>",
    "{% macro f() %}<{{ caller('a') }}>{% endmacro %}{% call(x) f() %}{{ x }}{% endcall %}": "<a>",
    "{% filter upper %}abc{% endfilter %}": "ABC",
    "{% set x %}a{% endset %}{{ x * 2 }}": "aa",
    "{{ ['b', 'a'] | sort | map('upper') | list }}": "['A', 'B']",
    "{{ [[1], [2]] | sum(start=[]) }}": "[1, 2]",
    "{{ 'abc'[1:] }}{{ ('x', 'y')[1] }}": "bcy",
    "{{ nothing is defined }} {{ nothing | default('d') }}": "False d",
}
