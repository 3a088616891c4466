"""Tasks on graphs, given as lists of edges."""

from tasks.corpora.bundles.draft import Draft, Family

Edges = list[tuple[str, str]]
_EDGES: list[Edges] = [
    [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"), ("x", "y")],
    [("a", "c"), ("c", "a"), ("b", "a"), ("b", "d"), ("d", "e")],
    [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "a"), ("q", "a")],
]


def _closure(edges: Edges, directed: bool) -> dict[str, dict[str, int]]:
    """Hops between every two nodes, by relaxing until nothing changes."""
    pairs = edges if directed else [*edges, *((b, a) for a, b in edges)]
    nodes = sorted({node for edge in edges for node in edge})
    hops = {node: {node: 0} for node in nodes}
    for _ in nodes:
        for source in nodes:
            for a, b in pairs:
                if a in hops[source]:
                    hops[source][b] = min(hops[source].get(b, 99), hops[source][a] + 1)
    return hops


def _reach(directed: bool, steps: int, gives: str) -> Draft:
    back = "" if directed else "\n        links[second].add(first)"
    final, told, kind = {
        "names": ("sorted(seen)", "the nodes, itself included, in order", "list[str]"),
        "count": ("len(seen)", "how many nodes, itself included,", "int"),
        "new": ("sorted(seen - {start})", "the other nodes, in order,", "list[str]"),
    }[gives]

    def oracle(edges: Edges, start: str) -> object:
        near = sorted(node for node, hops in _closure(edges, directed).get(start, {start: 0}).items() if hops <= steps)
        return {"names": near, "count": len(near), "new": [node for node in near if node != start]}[gives]

    return Draft(
        "reachable(edges, start)",
        f"takes {'directed' if directed else 'undirected'} edges as pairs of names and returns {told} that"
        " can be reached"
        f" from a node in at most {steps} steps.",
        "see what is near in a graph",
        f'''\
from collections import defaultdict


def reachable(edges: list[tuple[str, str]], start: str) -> {kind}:
    """Find what is within {steps} steps."""
    links: dict[str, set[str]] = defaultdict(set)
    for first, second in edges:
        links[first].add(second){back}
    seen = {{start}}
    for _ in range({steps}):
        frontier = [other for node in seen for other in links[node]]
        seen.update(frontier)
    return {final}
''',
        (f"range({steps})", f"range({steps - 1})"),
        [(_EDGES[0], "a"), (_EDGES[1], "b"), (_EDGES[2], "d"), ([], "z"), (_EDGES[0], "c")],
        oracle,
    )


def _distance(directed: bool, missing: int, weight: int) -> Draft:
    back = "" if directed else "\n        links[second].append(first)"
    value = "hops[goal]" if weight == 1 else f"hops[goal] * {weight}"

    def oracle(edges: Edges, start: str, goal: str) -> int:
        hops = _closure(edges, directed).get(start, {start: 0}).get(goal)
        return missing if hops is None else hops * weight

    return Draft(
        "distance(edges, start, goal)",
        f"takes {'directed' if directed else 'undirected'} edges as pairs of names, each of length {weight},"
        " and returns the"
        f" length of the shortest way from start to goal, {missing} if there is none.",
        "measure ways in a graph",
        f'''\
from collections import defaultdict, deque


def distance(edges: list[tuple[str, str]], start: str, goal: str) -> int:
    """Return the length of the shortest way, or {missing}."""
    links: dict[str, list[str]] = defaultdict(list)
    for first, second in edges:
        links[first].append(second){back}
    hops = {{start: 0}}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in links[node]:
            if other not in hops:
                hops[other] = hops[node] + 1
                queue.append(other)
    return {value} if goal in hops else {missing}
''',
        ("hops[node] + 1", "hops[node] + 2"),
        [(_EDGES[0], "a", "d"), (_EDGES[1], "b", "c"), (_EDGES[2], "a", "q"), ([], "u", "v"), (_EDGES[0], "x", "a")],
        oracle,
    )


def _components(least: int, gives: str) -> Draft:
    final, told, kind = {
        "sizes": ("sorted(len(group) for group in large)", "their sizes, smallest first", "list[int]"),
        "count": ("len(large)", "how many there are", "int"),
        "first": ("sorted(min(group) for group in large)", "the first name by alphabet of each, in order", "list[str]"),
        "largest": (
            "max((len(group) for group in large), default=0)",
            "the size of the largest, 0 if there is none",
            "int",
        ),
    }[gives]

    def oracle(edges: Edges) -> object:
        hops = _closure(edges, directed=False)
        groups = [g for g in {tuple(sorted(near)) for near in hops.values()} if len(g) >= least]
        sizes = sorted(map(len, groups))
        return {
            "sizes": sizes,
            "count": len(groups),
            "first": sorted(g[0] for g in groups),
            "largest": max(sizes, default=0),
        }[gives]

    return Draft(
        "components(edges)",
        f"takes undirected edges as pairs of names, finds the connected parts with at least {least} nodes and"
        f" returns {told}.",
        "see how a graph falls apart",
        f'''\
from collections.abc import Iterable


def components(edges: Iterable[tuple[str, str]]) -> {kind}:
    """Find connected parts of {least} nodes or more."""
    groups: list[set[str]] = []
    for first, second in edges:
        joined = set([first, second])
        touched = [group for group in groups if group & joined]
        groups = [group for group in groups if group not in touched]
        groups.append(joined.union(*touched))
    large = [group for group in groups if len(group) >= {least}]
    return {final}
''',
        (f">= {least}]", f"> {least}]"),
        [
            (
                [
                    ("a", "b"),
                    ("c", "d"),
                    ("d", "e"),
                    ("f", "g"),
                    ("g", "h"),
                    ("h", "i"),
                    ("j", "k"),
                    ("k", "l"),
                    ("l", "m"),
                    ("m", "n"),
                ],
            ),
            ([("p", "q"), ("r", "s"), ("q", "r"), ("t", "u"), ("u", "v")],),
            ([(str(n), str(n + 1)) for n in range(least - 1)],),
            ([],),
        ],
        oracle,
    )


def _degrees(side: str, least: int, gives: str) -> Draft:
    count, told = {
        "out": ("first for first, second in edges", "edges that leave it"),
        "in": ("second for first, second in edges", "edges that arrive at it"),
        "both": ("node for edge in edges for node in edge", "edges that leave it or arrive at it"),
    }[side]
    final, aim, kind = {
        "names": (
            "sorted(node for node, degree in degrees.items() if degree >= LEAST)",
            "the nodes, in order,",
            "list[str]",
        ),
        "dict": (
            "{node: degree for node, degree in sorted(degrees.items()) if degree >= LEAST}",
            "a dict from node to number, nodes in order, of those",
            "dict[str, int]",
        ),
    }[gives]

    def oracle(edges: Edges) -> object:
        ends = {"out": [a for a, _ in edges], "in": [b for _, b in edges], "both": [n for edge in edges for n in edge]}[
            side
        ]
        found = {node: ends.count(node) for node in sorted(set(ends)) if ends.count(node) >= least}
        return found if gives == "dict" else list(found)

    return Draft(
        "busy_nodes(edges)",
        f"takes directed edges as pairs of names, counts for each node the {told} and returns {aim} with at"
        f" least {least}.",
        "find the busy nodes of a graph",
        f'''\
from collections import Counter

LEAST = {least}


def busy_nodes(edges: list[tuple[str, str]]) -> {kind}:
    """Find nodes with many edges."""
    degrees = Counter({count})
    return {final}
''',
        (f"LEAST = {least}", f"LEAST = {least + 1}"),
        [
            ([("a", "b"), ("a", "c"), ("a", "d"), ("a", "e"), ("b", "c"), ("d", "c"), ("e", "c")],),
            ([("k", "m"), ("m", "k"), ("k", "n"), ("n", "k"), ("k", "p")],),
            ([],),
            ([(str(n), "hub") for n in range(least)] + [("src", str(n)) for n in range(least)],),
        ],
        oracle,
    )


FAMILIES = (
    Family("reachable", {"directed": (True, False), "steps": (1, 2, 3, 4), "gives": ("names", "count", "new")}, _reach),
    Family("distances", {"directed": (True, False), "missing": (-1, 0, 999), "weight": (1, 2, 5, 10)}, _distance),
    Family("components", {"least": (2, 3, 4, 5), "gives": ("sizes", "count", "first", "largest")}, _components),
    Family("busy-nodes", {"side": ("out", "in", "both"), "least": (1, 2, 3, 4), "gives": ("names", "dict")}, _degrees),
)
