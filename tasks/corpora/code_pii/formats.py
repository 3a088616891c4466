"""Private values in files that are no code: configuration of several formats, logs, tables, notes."""

from collections.abc import Callable
from dataclasses import dataclass

from tasks.corpora.code_pii.places import HOLE, Name


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file.

    Attributes:
        path: with ``{key}``.
        language: of the fence.
        what: the file is, in a request, with ``{number}``.
        write: from package, name and number (of retries, seconds, ...) to a template.
        check: Python that raises unless ``text`` is such a file; empty where the standard library reads none.
    """

    path: str
    language: str
    what: str
    write: Callable[[str, Name, int], str]
    check: str = ""


def _toml(package: str, name: Name, number: int) -> str:
    return f'[service]\nname = "{package}"\nentry = "{name.entry}"\n{name.key} = "{HOLE}"\nretries = {number}\n'


def _json(package: str, name: Name, number: int) -> str:
    return f'{{\n  "service": "{package}",\n  "{name.key}": "{HOLE}",\n  "timeout_s": {number}\n}}\n'


def _yaml(package: str, name: Name, number: int) -> str:
    return f"service:\n  name: {package}\n  {name.key}: {HOLE}\n  workers: {number}\n  steps:\n    - {name.entry}\n"


def _ini(package: str, name: Name, number: int) -> str:
    return f"[{package}]\nentry = {name.entry}\ninterval = {number}\n{name.key} = {HOLE}\n"


def _env(package: str, name: Name, number: int) -> str:
    return f"SERVICE={package}\n{name.key.upper()}={HOLE}\nRETRIES={number}\n"


def _log(package: str, name: Name, number: int) -> str:
    return (
        f"INFO {package} started with {number} workers\n"
        f"INFO {package}.{name.entry} {name.key}={HOLE} accepted\n"
        f"WARN {package}.{name.entry} slow: {number * 7} ms\n"
    )


def _csv(package: str, name: Name, number: int) -> str:
    return f"service,entry,{name.key},runs\n{package},{name.entry},{HOLE},{number}\n"


def _note(package: str, name: Name, number: int) -> str:
    return f"# Handover of {package}\n\n- `{name.entry}` runs every {number} hours.\n- The {name.words} is `{HOLE}`.\n"


def _xml(package: str, name: Name, number: int) -> str:
    return f'<service name="{package}">\n  <{name.key}>{HOLE}</{name.key}>\n  <limit>{number}</limit>\n</service>\n'


def _docker(package: str, name: Name, number: int) -> str:
    return (
        f'FROM python:3.11-slim\nCOPY {package} /app/{package}\nENV {name.key.upper()}="{HOLE}"\n'
        f'ENV WORKERS={number}\nCMD ["python", "-m", "{package}.cli"]\n'
    )


FORMATS = (
    Format(
        "config/{key}.toml",
        "toml",
        "the configuration in TOML with {number} retries",
        _toml,
        "import tomllib; assert 'retries' in tomllib.loads(text)['service']",
    ),
    Format(
        "config/{key}.json",
        "json",
        "the configuration in JSON with a timeout of {number} s",
        _json,
        "import json; assert 'timeout_s' in json.loads(text)",
    ),
    Format("config/{key}.yaml", "yaml", "the configuration in YAML with {number} workers", _yaml),
    Format(
        "config/{key}.ini",
        "ini",
        "the configuration as an INI file with an interval of {number}",
        _ini,
        "import configparser; configparser.ConfigParser().read_string(text)",
    ),
    Format("deploy/{key}.env", "sh", "the environment of the deployment with {number} retries", _env),
    Format("logs/{key}.log", "text", "an example of a log with {number} workers", _log),
    Format(
        "data/{key}.csv",
        "text",
        "the table of runs with {number} runs",
        _csv,
        "import csv, io; assert len(set(map(len, csv.reader(io.StringIO(text))))) == 1",
    ),
    Format("docs/{key}.md", "markdown", "a handover note, every {number} hours", _note),
    Format(
        "deploy/{key}.xml",
        "xml",
        "the description of the service in XML with a limit of {number}",
        _xml,
        "from xml.etree import ElementTree; ElementTree.fromstring(text)",
    ),
    Format("deploy/{key}.dockerfile", "dockerfile", "the container's build file with {number} workers", _docker),
)
