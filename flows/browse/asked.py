"""What an address asks for: a query and a page, read from it and written into it."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

from flows.browse.kinds import Kind
from infra.search.index import Query

FACET = "f."  # before the name of a facet
LONGEST = 500  # characters of a search
MOST_PAGES = 10**9


class AddressUnusable(ValueError):
    """An address asks for what cannot be; the message says what."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, the page of its list, and where in the list a row is."""

    query: Query
    page: int = 1
    place: int | None = None

    def parameters(self, **more: int) -> str:
        """Return the query as part of an address, with ``?`` where there is anything to say."""
        query = self.query
        pairs: list[tuple[str, str | int]] = []
        if query.text:
            pairs.append(("q", query.text))
        if query.names:
            pairs.append(("about", query.names))
        pairs += [(f"{FACET}{name}", value) for name, value in query.facets.items()]
        if query.least is not None:
            pairs.append(("least", query.least))
        if query.most is not None:
            pairs.append(("most", query.most))
        pairs += [(name, value) for name, value in more.items() if (name, value) != ("page", 1)]
        return f"?{urlencode(pairs)}" if pairs else ""


def asked(parameters: QueryParams, kind: Kind) -> Asked:
    """Read an address; what is empty asks for nothing.

    Raises:
        AddressUnusable: a number is none, or too large.
    """
    query = Query(
        text=parameters.get("q", "").strip()[:LONGEST],
        names=parameters.get("about", "").strip()[:LONGEST],
        facets=_facets(parameters, kind),
        least=_number(parameters, "least"),
        most=_number(parameters, "most"),
    )
    return Asked(query, max(1, _number(parameters, "page") or 1), _number(parameters, "at"))


def _facets(parameters: Mapping[str, str], kind: Kind) -> Mapping[str, str]:
    found = {facet.name: parameters.get(f"{FACET}{facet.name}", "") for facet in kind.facets}
    return {name: value for name, value in found.items() if value}


def _number(parameters: Mapping[str, str], name: str) -> int | None:
    said = parameters.get(name, "").strip()
    if not said:
        return None
    if not (said.isascii() and said.isdigit()) or int(said[:20]) > MOST_PAGES:
        raise AddressUnusable(f"{name}: {said[:20]} is no whole number from 0 to {MOST_PAGES:,}.")
    return int(said)
