"""What is special about an object store: its errors, its limits, and what must not be asked of it too often."""

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from infra.shards import files, objects, parquet, s3
from infra.shards.lease import LeaseLost
from infra.shards.location import ObjectPath, location
from infra.shards.s3 import StorageRefused, StorageUnavailable
from tests.infra.shards import object_store
from tests.infra.shards.object_store import BUCKET, Store
from tests.infra.shards.samples import NOTES


@pytest.fixture
def place(tmp_path: Path) -> ObjectPath:
    return ObjectPath(BUCKET, tmp_path.name)


def test_more_names_than_one_answer_holds_are_all_listed(bucket: Store, place: ObjectPath) -> None:
    paths = [place / "set" / f"{number:04}" for number in range(1005)]
    for path in paths:
        bucket.hold(path.key, b"x")
    assert files.names(place / "set") == [path.name for path in paths]
    assert len(files.sizes(place / "set")) == 1005
    assert bucket.count("LIST") == 4
    objects.delete(paths)
    assert files.names(place / "set") == []


def test_a_large_object_goes_in_parts_and_under_the_same_conditions(
    bucket: Store, place: ObjectPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "PART_BYTES", 5 * 2**20)  # the least that the protocol allows
    data = bytes(range(256)) * 48 * 2**10  # 12 MiB
    assert objects.create(place / "big", data)
    assert bucket.count(f"PUT /{BUCKET}") == 3
    assert files.read(place / "big") == data
    assert not objects.create(place / "big", data[:-1])
    seen = objects.version(place / "big")
    assert objects.replace(place / "big", data[:-1], seen)
    assert bucket.if_match[-1] == seen  # this server does not look at it here, others do
    assert files.read(place / "big") == data[:-1]
    assert s3.client().list_multipart_uploads(Bucket=BUCKET).get("Uploads", []) == []


def test_a_busy_store_is_asked_again(bucket: Store, place: ObjectPath) -> None:
    bucket.fail(f"PUT /{BUCKET}/{place.key}/a", 503, "SlowDown", times=1)
    assert objects.create(place / "a", b"1")
    bucket.fail(f"GET /{BUCKET}/{place.key}/a", 500, "InternalError", times=1)
    assert files.read(place / "a") == b"1"
    assert bucket.count(f"PUT /{BUCKET}/{place.key}/a") == bucket.count(f"GET /{BUCKET}/{place.key}/a") == 2


def test_a_store_that_stays_busy_is_unavailable(bucket: Store, place: ObjectPath) -> None:
    bucket.fail(f"PUT /{BUCKET}/{place.key}/a", 503, "SlowDown", times=99)
    with pytest.raises(StorageUnavailable, match=rf"s3://{BUCKET}/.*/a: http://127.0.0.1:\d+ answers 503 SlowDown"):
        files.put(place / "a", b"1")


def test_two_conditional_writes_that_meet_wait_for_each_other(bucket: Store, place: ObjectPath) -> None:
    bucket.fail(f"PUT /{BUCKET}/{place.key}/a", 409, "ConditionalRequestConflict", times=2)
    assert objects.create(place / "a", b"1")
    assert files.read(place / "a") == b"1"


def test_a_write_whose_answer_was_lost_counts_as_ours(
    bucket: Store, place: ObjectPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.put(place / "a", b"mine")  # got through; then the answer was lost, and the client asked again
    late = s3.PreconditionFailed(was_retried=True)

    def write(*_: object) -> None:
        raise late

    monkeypatch.setattr(objects, "_put", write)
    assert objects.create(place / "a", b"mine")
    assert not objects.create(place / "a", b"theirs")


@pytest.mark.parametrize(
    ("status", "code", "advice"),
    [
        (403, "InvalidAccessKeyId", "does not know this access key: look at AWS_ACCESS_KEY_ID"),
        (403, "SignatureDoesNotMatch", "look at AWS_SECRET_ACCESS_KEY"),
        (403, "AccessDenied", "s3:PutObject"),
        (400, "ExpiredToken", "log in again"),
        (301, "PermanentRedirect", "set AWS_REGION"),
        (501, "NotImplemented", "conditional writes"),
        (400, "Weird", "told so"),
    ],
)
def test_a_refusal_says_what_to_do(bucket: Store, place: ObjectPath, status: int, code: str, advice: str) -> None:
    bucket.fail(f"GET /{BUCKET}/{place.key}/a", status, code, times=9)
    with pytest.raises(StorageRefused, match=f"{place}/a: .* answers {status} {code}: .*{advice}") as raised:
        files.read(place / "a")
    assert "two" not in str(raised.value)  # the secret key


def test_a_bucket_that_is_not_there_is_named(bucket: Store) -> None:
    for ask in (files.names, files.read, files.is_folder, files.make_folder):
        with pytest.raises(StorageRefused, match=r"s3://no-such-bucket/a.*: there is no such bucket"):
            ask(ObjectPath("no-such-bucket", "a"))  # type: ignore[operator]


def test_without_credentials_it_says_where_they_belong(
    bucket: Store, place: ObjectPath, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    object_store.forget()
    with pytest.raises(StorageRefused, match=r"no usable credentials .*set AWS_ACCESS_KEY_ID"):
        files.read(place / "a")


def test_a_server_that_is_down_is_asked_for_longer_than_it_takes_to_restart(
    bucket: Store, place: ObjectPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.delenv("AWS_MAX_ATTEMPTS")
    object_store.forget()
    monkeypatch.setattr("botocore.endpoint.time.sleep", waits.append)
    with pytest.raises(StorageUnavailable):
        files.put(place / "a", b"1")
    assert len(waits) == 10  # a random part of 50 ms, of 100 ms, ..., of 20 s: 23 s in the mean
    waits.clear()
    with pytest.raises(StorageUnavailable):
        files.read(place / "a")
    assert len(waits) == 10  # a read, too, is not begun again when the client has given up


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("AWS_SECRET_ACCESS_KEY", None, "missing: AWS_SECRET_ACCESS_KEY"),
        ("AWS_PROFILE", "nobody", "profile .nobody. could not be found"),
        ("AWS_ENDPOINT_URL_S3", "minio.example.org:9000", "minio.example.org:9000.*https://HOST:PORT"),
        ("AWS_MAX_ATTEMPTS", "many", "'many'"),
        ("AWS_REGION", "not one", "'not one'"),
    ],
)
def test_an_environment_that_makes_no_client_is_refused_by_what_it_says(
    bucket: Store, place: ObjectPath, monkeypatch: pytest.MonkeyPatch, name: str, value: str | None, said: str
) -> None:
    monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv(name, value)
    object_store.forget()
    with pytest.raises(StorageRefused, match=f"no client for s3:// can be made.*{said}"):
        files.read(place / "a")


@pytest.mark.parametrize(
    ("told", "region"),
    [
        ({"AWS_REGION": "eu-central-1"}, "eu-central-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
        ({"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-west-1"}, "eu-central-1"),
    ],
)
def test_the_region_is_that_of_either_variable(
    bucket: Store, monkeypatch: pytest.MonkeyPatch, told: dict[str, str], region: str
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    object_store.forget()
    assert s3.client().meta.region_name == region


def test_a_server_that_is_down_is_unavailable(
    bucket: Store, place: ObjectPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    object_store.forget()
    with pytest.raises(StorageUnavailable, match=r"http://127\.0\.0\.1:9 does not answer"):
        files.put(place / "a", b"1")


def test_a_store_without_conditional_writes_is_found_out_before_work_starts(bucket: Store, place: ObjectPath) -> None:
    files.make_folder(place)
    objects.check_store.cache_clear()
    bucket.ignores_conditions = True
    with pytest.raises(StorageRefused, match="two workers could finish the same shard"):
        files.make_folder(place)
    assert files.names(place) == []


def test_a_stalled_writer_does_not_overwrite_its_successor(bucket: Store, place: ObjectPath) -> None:
    """Right after its check, the lease goes to another, who writes; the stalled write comes then."""
    path = place / "part.parquet"
    files.put(path, b"before")
    lost = iter([False, True])

    def check() -> None:
        if next(lost):
            raise LeaseLost("taken")
        files.put(path, b"the successor's")

    with pytest.raises(LeaseLost):
        files.stage(path, b"the stalled worker's").publish(check)
    assert files.read(path) == b"the successor's"


def test_of_a_large_table_only_the_columns_that_are_asked_for_are_read(
    bucket: Store, place: ObjectPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.shards.ranged.BLOCK_BYTES", 1000)
    random = Random(1)
    rows = pa.Table.from_pylist(
        [{"note_id": f"n{n}", "index": n, "text": f"{random.getrandbits(4000):x}", "tags": None} for n in range(3000)],
        schema=NOTES,
    )
    data = parquet.encode(rows)
    files.put(place / "a.parquet", data)
    read: list[int] = []
    real = objects.read_part

    def counted(path: ObjectPath, start: int = 0, stop: int | None = None) -> tuple[bytes, str] | None:
        found = real(path, start, stop)
        read.append(len(found[0]) if found else 0)
        return found

    monkeypatch.setattr(objects, "read_part", counted)
    assert parquet.read(place / "a.parquet", NOTES, ["index"]).equals(rows.select(["index"]))
    assert sum(read) < len(data) / 10
    assert parquet.read(place / "a.parquet", NOTES).equals(rows)


def test_a_table_that_is_not_there_or_none_is_damaged(bucket: Store, place: ObjectPath) -> None:
    with pytest.raises(parquet.TableDamaged, match="is gone"):
        parquet.read(place / "b.parquet", NOTES)
    files.put(place / "c.parquet", b"PAR1 no more")
    with pytest.raises(parquet.TableDamaged, match="cannot be read"):
        parquet.read(place / "c.parquet", NOTES)


@pytest.mark.parametrize(
    "text",
    [
        "s3://",
        "s3://b",
        "s3:///a",
        "s3://bucket/a//b",
        "s3://bucket/a/../b",
        "s3:/bucket/a",
        "s3:bucket",
        "gs://bucket",
    ],
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="s3://BUCKET/PREFIX"):
        location(text)


def test_an_object_path_behaves_as_a_path() -> None:
    path = location("s3://bucket/a/b.tar.zst/")
    assert path == ObjectPath("bucket", "a/b.tar.zst")
    assert str(path) == "s3://bucket/a/b.tar.zst"
    assert (path.name, path.stem, path.suffix) == ("b.tar.zst", "b.tar", ".zst")
    assert [str(each) for each in path.parents] == ["s3://bucket/a", "s3://bucket"]
    assert str(path.parent / "c") == str(path.with_name("c")) == "s3://bucket/a/c"
    assert location(path) is path
    assert location("data/set") == Path("data/set")
    with pytest.raises(TypeError):
        open(path)  # type: ignore[call-overload]  # noqa: PTH123, SIM115 - it is no file, and must not pass for one
