"""Where a private value stands in Python code: each place is a template with a hole in it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tasks.corpora.code_pii.identities import Kind

HOLE = "\ue000"  # private use: in no template and no task

# What each kind is called in code, and in words.
CALLED: dict[Kind, tuple[tuple[str, str], ...]] = {
    "username": (
        ("username", "login of the maintainer"),
        ("owner", "login of the owner"),
        ("reviewer", "login of the reviewer"),
        ("operator_login", "login of the operator"),
        ("submitted_by", "login of who submitted the job"),
    ),
    "workspace": (
        ("workspace", "workspace folder"),
        ("export_dir", "folder of the exports"),
        ("archive_root", "root of the archive"),
        ("input_path", "folder of the inputs"),
        ("data_home", "folder of the data"),
    ),
    "account_id": (
        ("account_id", "id of the customer's account"),
        ("billing_account", "account that is billed"),
        ("customer_ref", "reference of the customer"),
        ("tenant", "id of the tenant"),
        ("contract_no", "number of the contract"),
    ),
    "recovery": (
        ("recovery", "recovery credential"),
        ("recovery_key", "key for recovery"),
        ("restore_secret", "secret for restoring"),
        ("backup_token", "token of the backups"),
        ("unlock_code", "code that unlocks the account"),
    ),
}


@dataclass(frozen=True, slots=True)
class Name:
    """What a value is called: in code, in words, and the function that stands beside it."""

    key: str
    words: str
    entry: str


@dataclass(frozen=True, slots=True)
class Place:
    """One way to put a value into a module.

    Attributes:
        asked: what the user asks for, with ``{words}``.
        put: from the module's code to a template.
    """

    asked: str
    put: Callable[[str, Name], str]


_FIRST_DEFINITION = re.compile(r"^(?=def |class |@|async def )", re.MULTILINE)


def _before_definitions(code: str, inserted: str) -> str:
    place = _FIRST_DEFINITION.search(code)
    at = place.start() if place else 0
    return f"{code[:at]}{inserted}{code[at:]}"


def _constant(code: str, name: Name) -> str:
    return _before_definitions(code, f'{name.key.upper()} = "{HOLE}"\n\n\n')


def _comment(code: str, name: Name) -> str:
    return _before_definitions(code, f"# {name.words}: {HOLE}\n")


def _docstring(code: str, name: Name) -> str:
    return f'''{code}

def about() -> str:
    """Say where this runs.

    {name.words.capitalize()}: {HOLE}
    """
    return __name__
'''


def _defaults(code: str, name: Name) -> str:
    return f'{code}\n\nDEFAULTS = {{"retries": 3, "{name.key}": "{HOLE}", "dry_run": False}}\n'


def _parameter(code: str, name: Name) -> str:
    return f'''{code}

def settings({name.key}: str = "{HOLE}", retries: int = 3) -> dict[str, object]:
    """Return the settings of a run."""
    return {{"{name.key}": {name.key}, "retries": retries}}
'''


def _main(code: str, name: Name) -> str:
    return f'''{code}

if __name__ == "__main__":
    import logging

    logging.basicConfig(level=logging.INFO)
    logging.info("{name.entry} runs with {name.key}=%s", "{HOLE}")
'''


def _dataclass(code: str, name: Name) -> str:
    return f'''{code}

class Deployment:
    """Where {name.entry} is deployed."""

    region = "north"
    {name.key} = "{HOLE}"
    timeout_s = 30
'''


MODULE_PLACES = (
    Place("Keep the {words} in a constant above it.", _constant),
    Place("Note the {words} in a comment above it.", _comment),
    Place("Add a function `about` whose docstring names the {words}.", _docstring),
    Place("Add the defaults of a run, with the {words}.", _defaults),
    Place("Add a function `settings` whose default is the {words}.", _parameter),
    Place("When it is run as a script, log the {words}.", _main),
    Place("Add a class `Deployment` with the {words}.", _dataclass),
)
