"""An object that is read in pieces: a Parquet reader asks for the columns and row groups it needs, and no more."""

from io import SEEK_CUR, SEEK_END, SEEK_SET, RawIOBase

from infra.shards import objects
from infra.shards.location import ObjectPath

BLOCK_BYTES = 4 * 2**20  # asked for at once; of small pieces that lie close together, one request brings many


class RangedObject(RawIOBase):
    """A binary file over one version of an object.

    Raises:
        FileNotFoundError: there is no such object.
    """

    def __init__(self, path: ObjectPath) -> None:
        self._path = path
        self._size, self._version = objects.size_and_version(path)
        self._at = 0
        self._block = memoryview(b"")
        self._block_start = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Return where the next byte comes from."""
        return self._at

    def seek(self, offset: int, whence: int = SEEK_SET, /) -> int:
        """Go to a byte."""
        self._at = {SEEK_SET: 0, SEEK_CUR: self._at, SEEK_END: self._size}[whence] + offset
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        """Return up to ``size`` bytes; fewer at the end only.

        Raises:
            OSError: the object was replaced since it was opened.
        """
        stop = self._size if size < 0 else min(self._size, self._at + size)
        if stop <= self._at:
            return b""
        if not self._block_start <= self._at <= stop <= self._block_start + len(self._block):
            self._load(stop)
        first = self._at - self._block_start
        self._at = stop
        return bytes(self._block[first : stop - self._block_start])

    def readall(self) -> bytes:
        """Return the rest."""
        return self.read()

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]  # any writable buffer
        """Fill ``buffer``, and return how much of it."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _load(self, stop: int) -> None:
        """Get the bytes up to ``stop``, and those around that are likely to be wanted next.

        A reader of Parquet begins at the end, where the file says what is where.
        """
        start = self._at
        end = min(self._size, max(stop, start + BLOCK_BYTES))
        if end == self._size:
            start = min(start, max(0, end - BLOCK_BYTES))
        found = objects.read_part(self._path, start, end)
        if found is None or found[1] != self._version:
            raise OSError(f"{self._path}: was replaced while it was read: read it again")
        self._block, self._block_start = memoryview(found[0]), start
