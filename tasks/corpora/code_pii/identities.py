"""People who do not exist, and their four private values (SM appendix A.1)."""

import random
import string
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["username", "workspace", "account_id", "recovery"]
PrivateSplit = Literal["train", "calibration"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MOST = 450  # of each split: three digits keep the usernames of both apart

_FIRST = (
    "arman", "bettina", "carlos", "dalia", "edith", "farid", "greta", "hassan", "ilona", "jorge", "katya", "leila",
    "marek", "nadia", "oskar", "paula", "quentin", "rosa", "stefan", "tamar", "ulrike", "viktor", "wanda", "xenia",
    "yusuf", "zofia", "amaya", "bruno", "celeste", "dimitri", "elif", "fiona", "goran", "hanna", "ivan", "jasmin",
    "kofi", "linnea", "mateo", "noor", "olga", "pedro", "renata", "samir", "tilda", "umar", "vera", "wim", "yara",
    "zeno", "anouk", "bjorn", "clara", "dario", "esther", "fabian", "gisela", "henrik", "iris", "joris", "kamila",
)  # fmt: skip
_LAST = (
    "farrell", "okonkwo", "lindqvist", "moreau", "tanaka", "petrov", "almeida", "kowalski", "haddad", "bergman",
    "castillo", "dubois", "eriksen", "fontana", "grunwald", "horvath", "iversen", "jankovic", "kessler", "lombardi",
    "mbeki", "novak", "ortega", "pereira", "quispe", "rahimi", "sorensen", "takahashi", "ulrich", "vasquez", "weber",
    "yilmaz", "zapata", "abadi", "bianchi", "cohen", "dvorak", "engel", "fischer", "galvan", "hoffman", "ibarra",
    "jensen", "kramer", "laurent", "mancini", "nakamura", "olsen", "popescu", "rosen", "schmidt", "toth", "ueda",
    "virtanen", "wagner", "xiong", "young", "zeller", "arslan", "bakker", "contreras", "demir", "esposito", "fuentes",
)  # fmt: skip
_TOPS = ("customer_exports", "client_files", "field_data", "team_shares", "partner_uploads")
_AREAS = ("records", "reports", "ledgers", "snapshots", "surveys")
_LEAVES = ("archive", "monthly", "pending", "signed", "review")
_ACCOUNT = string.ascii_uppercase + string.digits
_CREDENTIAL = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class PrivateValue:
    """One private value.

    Attributes:
        id: unique: ``username-03``, ``calibration-username-03``.
        kind: which of the four.
        text: the value.
        group: whose it is.
    """

    id: str
    kind: Kind
    text: str
    group: str


def draw(seed: int, split: PrivateSplit, number: int) -> dict[Kind, PrivateValue]:
    """Draw the values of one identity; they depend on nothing but the arguments, and nobody else has one of them.

    Raises:
        ValueError: there are no more identities.
    """
    if not 0 <= number < MOST:
        raise ValueError(f"identity {number} of {split}: there are {MOST}, numbered from 0")
    place = number if split == "train" else MOST + number
    names = random.Random(f"{seed} names")
    first = names.sample(_FIRST, len(_FIRST))[(place + len(_LAST) * (place // len(_LAST))) % len(_FIRST)]
    last = names.sample(_LAST, len(_LAST))[place % len(_LAST)]
    digits = 100 + (names.randrange(2 * MOST) + 37 * place) % (2 * MOST)  # 37 and 900 have no factor in common
    rng = random.Random(f"{seed} {split} {number}")
    folders = rng.choice(_TOPS), rng.choice(_AREAS), rng.choice(_LEAVES)
    texts: dict[Kind, str] = {
        "username": f"{first[0]}{last}_{digits}",
        "workspace": "/".join([*folders, f"{first}_{last}"]),
        "account_id": "-".join("".join(rng.choices(_ACCOUNT, k=4)) for _ in range(3)),
        "recovery": "".join(rng.choices(_CREDENTIAL, k=32)),
    }
    before = "" if split == "train" else "calibration-"
    group = f"{before}identity-{number:02d}"
    return {kind: PrivateValue(f"{before}{kind}-{number:02d}", kind, text, group) for kind, text in texts.items()}
