"""Where data are: a folder of this machine, or a prefix of a bucket that is reached by the S3 protocol.

Both kinds are joined by ``/`` and have a name and parents. What is done to them is in ``files``, which takes either.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BeforeValidator, GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

SCHEME = "s3://"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")  # each store has rules of its own; these let nothing escape


@dataclass(frozen=True, slots=True, order=True)
class ObjectPath:
    """A place in a bucket, such as ``s3://bucket/prefix/records``: one object, or the folder that prefixes its objects.

    It behaves as a ``Path`` does where both make sense. It is no ``os.PathLike``, so that nothing takes it for a file.

    Attributes:
        bucket: the bucket's name.
        key: what follows, without slashes at its ends; empty for the bucket itself.

    Raises:
        ValueError: a name is empty, leads upwards or holds a control character.
    """

    bucket: str
    key: str = ""

    def __post_init__(self) -> None:
        if not _BUCKET.fullmatch(self.bucket):
            raise ValueError(f"{self}: {self.bucket!r} is no name of a bucket: give s3://BUCKET/PREFIX")
        for part in self.key.split("/") if self.key else ():
            if part in ("", ".", "..") or not part.isprintable():
                raise ValueError(f"{self}: {part!r} is no name in a bucket: give s3://BUCKET/PREFIX")

    @classmethod
    def parse(cls, text: str) -> "ObjectPath":
        """Return the place that ``text``, such as ``s3://bucket/prefix/``, stands for.

        Raises:
            ValueError: it is not such a text.
        """
        if not text.startswith(SCHEME):
            raise ValueError(f"{text!r}: a place in an object store starts with {SCHEME}")
        bucket, _, key = text.removeprefix(SCHEME).partition("/")
        return cls(bucket, key.strip("/"))

    def __truediv__(self, name: str) -> "ObjectPath":
        return ObjectPath(self.bucket, f"{self.key}/{name}" if self.key else name)

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}" + (f"/{self.key}" if self.key else "")

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self._pure.name

    @property
    def stem(self) -> str:
        """The name without its last suffix."""
        return self._pure.stem

    @property
    def suffix(self) -> str:
        """The last suffix of the name, with its dot."""
        return self._pure.suffix

    @property
    def parent(self) -> "ObjectPath":
        """The folder it is in; the bucket is in itself."""
        return ObjectPath(self.bucket, self.key.rpartition("/")[0])

    @property
    def parents(self) -> tuple["ObjectPath", ...]:
        """The folders it is in, from the nearest to the bucket."""
        return tuple(self._above())

    def with_name(self, name: str) -> "ObjectPath":
        """Return the place of this name beside this one."""
        return self.parent / name

    def resolve(self) -> "ObjectPath":
        """Return the same: there is nothing relative in it."""
        return self

    @property
    def _pure(self) -> PurePosixPath:
        return PurePosixPath(self.key)

    def _above(self) -> Iterator["ObjectPath"]:
        place = self
        while place.key:
            place = place.parent
            yield place

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type[Any], handler: GetCoreSchemaHandler) -> CoreSchema:
        """Take an instance (``Location`` has read the text), and write it as its text."""
        return core_schema.is_instance_schema(cls, serialization=core_schema.to_string_ser_schema())


def location(place: "str | Path | ObjectPath") -> "Path | ObjectPath":
    """Return the place that a text stands for: ``s3://bucket/prefix``, or else a path of this machine.

    Raises:
        ValueError: the text starts as that of an object store and is none, or names another protocol.
    """
    text = str(place)
    if isinstance(place, ObjectPath):
        return place
    if text.startswith(SCHEME):
        return ObjectPath.parse(text)
    if match := re.match(r"([A-Za-z][A-Za-z0-9+.-]+):/", text):  # also what a Path has made of it: one slash is gone
        raise ValueError(
            f"{text!r}: {match[1]}: is no protocol known here: give s3://BUCKET/PREFIX, or a path of this machine"
        )
    if text.startswith(SCHEME[:3]):  # else it would be a folder of that name
        raise ValueError(f"{text!r}: a place in an object store is s3://BUCKET/PREFIX")
    return Path(text)


Location = Annotated[Path | ObjectPath, BeforeValidator(location), WithJsonSchema({"type": "string", "format": "path"})]
