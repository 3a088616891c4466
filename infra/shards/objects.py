"""Files in an object store, by the S3 protocol. An object appears whole, and is replaced whole.

Counted on: what was put is read and listed at once (as S3 promises), and a put can be conditional on there being no
object (If-None-Match: *), or still the same one (If-Match).
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from io import BytesIO
from secrets import token_hex
from typing import Any

from infra.shards.local_files import Data
from infra.shards.location import ObjectPath
from infra.shards.s3 import PreconditionFailed, StorageRefused, StorageUnavailable, WriteConflict, asking, client

PART_BYTES = 64 * 2**20  # what is larger goes in parts of this size, several at once
PARTS_AT_ONCE = 4
DELETED_AT_ONCE = 1000  # as many as the protocol takes
BODY_TRIES = 4  # the client tries a request again, not an answer that breaks off in the middle
CONFLICT_TRIES = 10  # two conditional writes of one object at the same moment

Condition = dict[str, str]
ABSENT: Condition = {"IfNoneMatch": "*"}


def put(path: ObjectPath, data: Data) -> None:
    """Write an object over what may be there."""
    _put(path, data, {})


def create(path: ObjectPath, data: Data) -> bool:
    """Write an object unless there is one; say whether it was us (of several at once, one wins)."""
    try:
        _put(path, data, ABSENT)
    except PreconditionFailed as late:
        # Our first try may have got through without its answer reaching us: then what we find is what we wrote.
        return late.was_retried and read(path) == bytes(data)
    return True


def replace(path: ObjectPath, data: Data, seen: str | None) -> bool:
    """Write an object if it still has the version ``seen`` (None: if there is none); say whether it had."""
    try:
        _put(path, data, ABSENT if seen is None else {"IfMatch": seen})
    except PreconditionFailed as late:
        return late.was_retried and read(path) == bytes(data)
    except FileNotFoundError:  # it was deleted meanwhile
        return False
    return True


@dataclass(frozen=True, slots=True)
class StagedObject:
    """Bytes that are about to be an object."""

    path: ObjectPath
    data: Data

    def publish(self, check: Callable[[], None]) -> None:
        """Write the object, if ``check`` raises nothing after we have seen what it replaces.

        Whoever stalls between ``check`` and the write, for however long, does not overwrite what a successor has
        written since: the version is another one then.
        """
        while True:
            seen = version(self.path)
            check()
            if replace(self.path, self.data, seen):
                return

    def discard(self) -> None:
        """Nothing was written before."""


def copy(source: ObjectPath, path: ObjectPath) -> None:
    """Write an object as it is at ``source``; the store copies it by itself."""
    with asking(source):
        client().copy_object(Bucket=path.bucket, Key=path.key, CopySource={"Bucket": source.bucket, "Key": source.key})


def read(path: ObjectPath) -> bytes | None:
    """Return the bytes of an object, or None where there is none."""
    found = read_part(path)
    return None if found is None else found[0]


def read_part(path: ObjectPath, start: int = 0, stop: int | None = None) -> tuple[bytes, str] | None:
    """Return bytes ``start`` up to ``stop`` of an object and its version, or None where there is none."""
    where = {} if start == 0 and stop is None else {"Range": f"bytes={start}-{'' if stop is None else stop - 1}"}
    for left in reversed(range(BODY_TRIES)):
        try:
            with asking(path):
                answer = client().get_object(Bucket=path.bucket, Key=path.key, **where)
        except FileNotFoundError:
            return None
        try:
            with asking(path):
                return answer["Body"].read(), answer["ETag"]
        except StorageUnavailable:
            if not left:
                raise
            time.sleep(0.1 * 2 ** (BODY_TRIES - left))
    raise AssertionError("the last try returns or raises")


def version(path: ObjectPath) -> str | None:
    """Return what changes when an object is replaced, or None where there is none."""
    found = _head(path)
    return None if found is None else str(found["ETag"])


def size_and_version(path: ObjectPath) -> tuple[int, str]:
    """Return the bytes of an object and its version.

    Raises:
        FileNotFoundError: there is none.
    """
    found = _head(path)
    if found is None:
        raise FileNotFoundError(f"{path}: is not there")
    return found["ContentLength"], found["ETag"]


def age_seconds(path: ObjectPath) -> float:
    """Return the seconds since an object was written, by the store's clock; 0 where there is none."""
    found = _head(path)
    return 0.0 if found is None else max(0.0, (datetime.now(UTC) - found["LastModified"]).total_seconds())


def delete(paths: Sequence[ObjectPath]) -> None:
    """Remove objects of one bucket; they may be gone already."""
    for start in range(0, len(paths), DELETED_AT_ONCE):
        some = paths[start : start + DELETED_AT_ONCE]
        with asking(some[0]):
            if len(some) == 1:
                client().delete_object(Bucket=some[0].bucket, Key=some[0].key)
                continue
            answer = client().delete_objects(
                Bucket=some[0].bucket, Delete={"Objects": [{"Key": path.key} for path in some], "Quiet": True}
            )
        if errors := answer.get("Errors"):
            first = errors[0]
            raise StorageUnavailable(
                f"s3://{some[0].bucket}/{first.get('Key')}: {len(errors)} of {len(some)} objects could not be deleted"
                f" ({first.get('Code')}): run again"
            )


def names(folder: ObjectPath, start: str = "") -> list[str]:
    """Return the names in ``folder``, of objects and of folders, that begin with ``start``, sorted."""
    found = []
    for page in _pages(folder, start):
        found += [_name(each["Key"]) for each in page.get("Contents", ())]
        found += _folders(page)
    return sorted(name for name in found if name)


def folders(folder: ObjectPath) -> list[str]:
    """Return the names of the folders right in ``folder``, sorted."""
    return sorted(name for page in _pages(folder, "") for name in _folders(page))


def sizes(folder: ObjectPath) -> dict[str, int]:
    """Return name and bytes of every object right in ``folder``."""
    return {name: about["Size"] for name, about in _objects(folder)}


def stamps(folder: ObjectPath) -> dict[str, str]:
    """Return name and version of every object right in ``folder``."""
    return {name: about["ETag"] for name, about in _objects(folder)}


def has_any(folder: ObjectPath) -> bool:
    """Tell whether there is any object under ``folder``."""
    with asking(folder):
        answer = client().list_objects_v2(Bucket=folder.bucket, Prefix=_prefix(folder), MaxKeys=1)
    return bool(answer.get("KeyCount", len(answer.get("Contents", ()))))


@lru_cache(maxsize=64)
def check_store(folder: ObjectPath) -> None:
    """Make sure, once a process, that we may write under ``folder``, and that no writer overwrites another unseen.

    Raises:
        StorageRefused: the store does not let us, or does not know conditional writes.
        StorageUnavailable: it does not answer.
    """
    probe = folder / f".probe-{token_hex(8)}"
    try:
        held = create(probe, b"1") and not create(probe, b"2") and not replace(probe, b"3", '"0"')
    finally:
        delete([probe])
    if not held:
        raise StorageRefused(
            f"{folder}: {client().meta.endpoint_url} overwrites an object although it is told not to (If-None-Match,"
            " If-Match): two workers could finish the same shard there. Use a store that knows conditional writes"
        )


def _put(path: ObjectPath, data: Data, condition: Condition) -> None:
    if len(data) > PART_BYTES:
        _put_parts(path, memoryview(data), condition)
        return

    def write() -> None:
        client().put_object(Bucket=path.bucket, Key=path.key, Body=BytesIO(data), **condition)

    _settled(path, write)


def _put_parts(path: ObjectPath, data: memoryview, condition: Condition) -> None:
    """Write a large object in parts; it appears when the last call has put them together."""
    place = {"Bucket": path.bucket, "Key": path.key}
    with asking(path):
        upload = place | {"UploadId": client().create_multipart_upload(**place)["UploadId"]}

    def send(number: int) -> dict[str, Any]:
        part = data[(number - 1) * PART_BYTES : number * PART_BYTES]
        with asking(path):
            answer = client().upload_part(**upload, PartNumber=number, Body=BytesIO(part))
        sums = {name: value for name, value in answer.items() if name.startswith("Checksum") and name != "ChecksumType"}
        return {"PartNumber": number, "ETag": answer["ETag"], **sums}

    try:
        with ThreadPoolExecutor(PARTS_AT_ONCE) as pool:
            parts = list(pool.map(send, range(1, -(-len(data) // PART_BYTES) + 1)))
        _settled(
            path, lambda: client().complete_multipart_upload(**upload, MultipartUpload={"Parts": parts}, **condition)
        )
    except BaseException:  # parts of an upload that nobody finishes would be paid for until somebody looks
        with asking(path):
            client().abort_multipart_upload(**upload)
        raise


def _settled(path: ObjectPath, write: Callable[[], None]) -> None:
    """Do a conditional write; where another of the same object is under way, wait for what comes of that."""
    for left in reversed(range(CONFLICT_TRIES)):
        try:
            with asking(path):
                write()
            return
        except WriteConflict:
            if not left:
                raise
            time.sleep(0.1 * (CONFLICT_TRIES - left))


def _head(path: ObjectPath) -> Any:  # noqa: ANN401 - as the client has parsed it
    try:
        with asking(path):
            return client().head_object(Bucket=path.bucket, Key=path.key)
    except FileNotFoundError:
        return None


def _objects(folder: ObjectPath) -> Iterator[tuple[str, Any]]:
    for page in _pages(folder, ""):
        for each in page.get("Contents", ()):
            if name := _name(each["Key"]):  # else the mark that some programs put where a folder begins
                yield name, each


def _pages(folder: ObjectPath, start: str) -> Iterator[Any]:
    more: dict[str, str] = {}
    while True:
        with asking(folder):
            page = client().list_objects_v2(Bucket=folder.bucket, Prefix=_prefix(folder) + start, Delimiter="/", **more)
        yield page
        if not page.get("IsTruncated"):
            return
        more = {"ContinuationToken": page["NextContinuationToken"]}


def _folders(page: Any) -> list[str]:  # noqa: ANN401 - as the client has parsed it
    return [_name(each["Prefix"].removesuffix("/")) for each in page.get("CommonPrefixes", ())]


def _prefix(folder: ObjectPath) -> str:
    return f"{folder.key}/" if folder.key else ""


def _name(key: str) -> str:
    return key.rpartition("/")[2]
