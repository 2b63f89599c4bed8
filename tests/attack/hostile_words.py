"""Words, options and expressions that no one would write, for the part `inputs`."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


COMMANDS = words(
    """
    check eval trace replay simulate graph plan states runs query specs new
    """
)
"""None that opens a page, starts a cluster, or takes long."""

OPTIONS = words(
    """
    --engine --threads --shards --keep-states --processes --storage-cache --fingerprint-bits --set --max-depth
    --max-states --timeout --memory --bounded-ok --deadlock --continue --strict --expect --kind --max-cost --from
    --trace --width --color --json --junit --resume --save-every --run-dir --no-run-dir --levels --quiet --help
    --version --format --step --table --chart --server --vars --hide --spec --model --property --out --changes
    --full -h -q
    """
)

WORDS = words(
    """
    drawn m drawn/models.toml drawn/spec.py . .. / last last#2 last#0 last#-1 last# #1 nothing.json 0 1 -1 2 1e9
    9999999999999 1.5 1K 8G 10m 0s inf nan native python 64 128 N=3 Server={s1} Server={s1,s2,s3} Server=3 N= =3 =
    == {} [] None st True f0 1/0 runs runs/* * ? [a] model error steps table itf html
    """
)

STRANGE = (
    "",
    " ",
    ";",
    "'",
    '"',
    "\\",
    "\t",
    "\n",
    "é",
    "☃",
    "\u202e",
    "%s",
    "{0}",
    "$HOME",
    "x" * 300,
    "y" * 5000,
    "-" * 40,
    "../" * 50,
)

EXPRESSIONS = (
    *r"""
1 // 0
1 % 0
2 ** 9999
product(2 for x in range(20000))
sum(x for x in range(3))
st
st.f0
f0
nxt
st.nothing
[x for x in Server]
{s for s in Server}
{s: 1 for s in Server}
min(set())
max([])
len(1)
st.f0.f0
lambda x: x
Server
Server.at(1)
Server.at(9)
Kind.RED
Kind
None.x
'text'
1 if 2 else 3
not 1
1 < 'a'
(1, 2) < (1,)
subsets(Server)
subsets(subsets(Server))
pair(1, 1)
pairs(Server)
count(1)
any(st)
all(1)
range(10**9)
range(-1)
st.set(f0=99)
State()
__import__('os')
st.__class__
().__class__
f'{1}'
x := 1
yield 1
await x
*st
...
1_000
0x10
1e3
1j
b''
(((((1)))))
require(False)
ways(True)
isinstance(1, Int)
st == st
st is st
1 in Server
set(Server) - Server
{1} | {True}
""".strip().splitlines(),
    "(" * 300,
    "-" * 500 + "1",
)
