"""The predefined options a person is made of: read from ``options/*.toml``, checked, and never changed.

The lists are our own. A pattern in them is a regular expression of literals, character classes and ``{n}``, without
anchors, so that ``^pattern$`` can stand in a JSON schema for every grammar that constrains a model's output.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import pydantic.dataclasses
from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from tasks.synthesis import taxonomy

FOLDER = Path(__file__).parent / "options"

_SHAPE = re.compile(r"(?:(?:\[[-A-Za-z0-9+.()]+\]|[A-Za-z0-9 /-])(?:\{[1-9][0-9]?\})?)+")
_EXACT = ConfigDict(extra="forbid")


class OptionsError(ValueError):
    """An option list is wrong; the message names the file and the entry."""


def _shape(pattern: str) -> str:
    if not _SHAPE.fullmatch(pattern):
        raise ValueError(f"{pattern!r} is more than literals, character classes and {{n}}")
    return pattern


def _domain(name: str) -> str:
    return taxonomy.domain_named(name).name


Text = Annotated[str, Field(pattern=r"^\S(.*\S)?$")]
Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)+$")]  # one word alone says too little
Pattern = Annotated[str, AfterValidator(_shape)]
Age = Annotated[int, Field(ge=0, le=120)]


@pydantic.dataclasses.dataclass(frozen=True, slots=True, config=_EXACT)
class Language:
    """A language that a person speaks or a record is written in.

    Attributes:
        name: its English name.
        code: ISO 639-1 where there is one, else 639-3.
        script: ISO 15924 code of its usual script.
        spaced: whether spaces stand between words; where not, words have to be counted in another way.
    """

    name: Text
    code: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
    script: Annotated[str, Field(pattern=r"^[A-Z][a-z]{3}$")]
    spaced: bool = True


@pydantic.dataclasses.dataclass(frozen=True, slots=True, config=_EXACT)
class Country:
    """A citizenship and the papers and numbers that come with it.

    Attributes:
        name: the country's short English name.
        demonym: the citizenship as a person states it, such as ``Kenyan``.
        language: name of an official language that is widely used there, one of ``Options.languages``.
        id_type: what its national identity number or card is called.
        id_pattern: shape of that number; check digits are not modelled.
        passport_pattern: shape of its passport number.
        phone_code: country calling code, without the plus sign.
        phone_pattern: shape of a phone number in international form, the code included.
    """

    name: Text
    demonym: Text
    language: Text
    id_type: Text
    id_pattern: Pattern
    passport_pattern: Pattern
    phone_code: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,2}$")]
    phone_pattern: Pattern

    @model_validator(mode="after")
    def _phone_begins_with_its_code(self) -> Self:
        if not self.phone_pattern.startswith(f"[+]{self.phone_code} "):
            raise ValueError(f"phone_pattern {self.phone_pattern!r} must begin with '[+]{self.phone_code} '")
        return self


@pydantic.dataclasses.dataclass(frozen=True, slots=True, config=_EXACT)
class LifeEvent:
    """Something that happens to a person and leaves a paper trail.

    Attributes:
        name: the event in a few words.
        domain: one of the eleven of PV Table 1.
        attributes: 5 to 9 keys of facts that such an event has.
        min_age: youngest age in years at which it happens.
        max_age: oldest age in years at which it happens.
    """

    name: Text
    domain: Annotated[str, AfterValidator(_domain)]
    attributes: Annotated[tuple[Key, ...], Field(min_length=5, max_length=9)]
    min_age: Age = 0
    max_age: Age = 120

    @model_validator(mode="after")
    def _is_possible(self) -> Self:
        if self.min_age > self.max_age:
            raise ValueError(f"min_age {self.min_age} is above max_age {self.max_age}")
        if twice := _first_repeated(self.attributes):
            raise ValueError(f"attribute {twice!r} is listed twice")
        return self

    def fits(self, age: int) -> bool:
        """Whether it can happen to a person of ``age`` years."""
        return self.min_age <= age <= self.max_age


@dataclass(frozen=True, slots=True)
class Options:
    """Every list there is to choose from; ``sha`` is a hash of the files that they were read from."""

    sexes: tuple[str, ...]
    ethnicities: tuple[str, ...]
    income_classes: tuple[str, ...]
    blood_types: tuple[str, ...]
    marital_states: tuple[str, ...]
    languages: tuple[Language, ...]
    countries: tuple[Country, ...]
    events: tuple[LifeEvent, ...]
    sha: str


@cache
def load_options(folder: Path = FOLDER) -> Options:
    """Read and check the option lists, once a process.

    Raises:
        OptionsError: a list is empty, an entry malformed or there twice, or a country's language is not in the list.
    """
    profile_file, countries_file = folder / "profile.toml", folder / "countries.toml"
    events_files = sorted((folder / "events").glob("*.toml"))
    profile = _read(profile_file)
    languages = _entries(Language, "languages", [folder / "languages.toml"])
    countries = _entries(Country, "countries", [countries_file])
    known = {language.name for language in languages}
    for country in countries:
        if country.language not in known:
            raise OptionsError(f"{countries_file}: {country.name}: language {country.language!r} is not in the list")
    return Options(
        sexes=_texts(profile, "sexes", profile_file),
        ethnicities=_texts(profile, "ethnicities", profile_file),
        income_classes=_texts(profile, "income_classes", profile_file),
        blood_types=_texts(profile, "blood_types", profile_file),
        marital_states=_texts(profile, "marital_states", profile_file),
        languages=languages,
        countries=countries,
        events=_entries(LifeEvent, "events", events_files),
        sha=_sha(folder),
    )


_TEXTS = TypeAdapter(Annotated[tuple[Text, ...], Field(min_length=1)])
_Entry = TypeVar("_Entry", Language, Country, LifeEvent)


def _texts(table: dict[str, Any], key: str, path: Path) -> tuple[str, ...]:
    try:
        texts = _TEXTS.validate_python(table.get(key))
    except ValidationError as error:
        raise OptionsError(f"{path}: {key}: {error}") from error
    if twice := _first_repeated(texts):
        raise OptionsError(f"{path}: {key}: {twice!r} is listed twice")
    return texts


def _entries(kind: type[_Entry], key: str, paths: Iterable[Path]) -> tuple[_Entry, ...]:
    """Read the entries under ``key`` of each file; what stands above them, such as a domain, holds for each."""
    adapter = TypeAdapter(kind)
    entries: list[_Entry] = []
    names: set[str] = set()
    for path in paths:
        shared = _read(path)
        for number, fields in enumerate(shared.pop(key, []), start=1):
            place = f"{path}: {key} {number} ({fields.get('name', 'no name')})"
            try:
                entry = adapter.validate_python(shared | fields)
            except ValidationError as error:
                raise OptionsError(f"{place}: {error}") from error
            if entry.name.casefold() in names:
                raise OptionsError(f"{place}: an entry of that name was read before")
            names.add(entry.name.casefold())
            entries.append(entry)
    if not entries:
        raise OptionsError(f"{', '.join(map(str, paths)) or 'no file'}: no {key}")
    return tuple(entries)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, FileNotFoundError) as error:
        raise OptionsError(f"{path}: {error}") from error


def _sha(folder: Path) -> str:
    texts = (path.relative_to(folder).as_posix() + "\n" + path.read_text("utf-8") for path in folder.rglob("*.toml"))
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()[:16]


def _first_repeated(texts: Iterable[str]) -> str | None:
    seen: set[str] = set()
    for text in texts:
        if text.casefold() in seen:
            return text
        seen.add(text.casefold())
    return None


def language_named(name: str) -> Language:
    """Return the language of that English name.

    Raises:
        OptionsError: it is not one of the lists'.
    """
    languages = load_options().languages
    for language in languages:
        if language.name == name:
            return language
    raise OptionsError(f"language {name!r}: not one of {', '.join(each.name for each in languages)}")
