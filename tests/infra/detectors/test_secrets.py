"""The secret scanners on texts whose findings are known by looking at them. All values here are invented."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("detect_secrets", reason="needs the extra `detectors`")
pytest.importorskip("credsweeper", reason="needs the extra `detectors`")

from infra.detectors.credsweeper import CredSweeper
from infra.detectors.detect_secrets import DetectSecrets, file_name
from infra.detectors.places import Lines
from tests.infra.detectors.network import refused

PASSWORD = "Pw-k9TxQ2vLm8"
AWS_ID = "AKIAQYLPMN5HHHFPZAM2"
TEXTS = [f"import os\r\nname = 'été'\rpassword = '{PASSWORD}'\r\n", "x = 1\n", f"key: {AWS_ID}\nother\n", ""]
PATHS = ["src/app.py", "src/one.py", "conf.txt", "empty.txt"]


@pytest.fixture(scope="module")
def credsweeper() -> CredSweeper:
    return CredSweeper()


def values(texts: list[str], spans: list[list[tuple[int, int]]]) -> list[set[str]]:
    return [{text[start:end] for start, end in row} for text, row in zip(texts, spans, strict=True)]


def test_credsweeper_finds_the_values_and_nothing_around_them(credsweeper: CredSweeper) -> None:
    assert values(TEXTS, credsweeper(TEXTS, PATHS)) == [{PASSWORD}, set(), {AWS_ID}, set()]


def test_detect_secrets_finds_the_values_and_nothing_around_them() -> None:
    assert values(TEXTS, DetectSecrets()(TEXTS, PATHS)) == [{PASSWORD}, set(), {AWS_ID}, set()]


def test_nothing_is_verified_over_the_network(credsweeper: CredSweeper, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = refused(monkeypatch)
    key = "c1d2b3a4" * 4 + "-us7"  # in the shape of a Mailchimp key, which the library could try out
    for detector in (credsweeper, DetectSecrets()):
        assert values([f"x = '{key}'"], detector([f"x = '{key}'"], ["x.py"])) == [{key}]
    assert asked == []


def test_a_second_batch_does_not_see_the_first(credsweeper: CredSweeper) -> None:
    for detector in (credsweeper, DetectSecrets()):
        detector(TEXTS, PATHS)
        assert values(TEXTS[1:2], detector(TEXTS[1:2], PATHS[1:2])) == [set()]


def test_the_same_value_in_two_texts_of_one_path_is_found_in_both(credsweeper: CredSweeper) -> None:
    for detector in (credsweeper, DetectSecrets()):
        twice = detector([TEXTS[0], TEXTS[0]], ["a.py", "a.py"])
        assert values([TEXTS[0]] * 2, twice) == [{PASSWORD}] * 2


def test_no_log_shows_a_value(credsweeper: CredSweeper, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(1):  # below the scanner's own TRACE
        credsweeper(TEXTS, PATHS)
        DetectSecrets()(TEXTS, PATHS)
    assert PASSWORD not in caplog.text
    assert AWS_ID not in caplog.text


def test_importing_detect_secrets_leaves_warnings_alone() -> None:
    code = "import infra.detectors.detect_secrets, warnings; print(warnings.showwarning.__module__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "warnings\n"


def test_no_file_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    DetectSecrets()(TEXTS, PATHS)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "name"),
    [("a/b.py", "b.py"), ("", "text.txt"), ("/", "text.txt"), ("a/..", "text.txt"), ("a\0.py", "a.py")],
)
def test_a_path_that_names_no_file_is_that_of_a_plain_text(path: str, name: str) -> None:
    assert file_name(path) == name


def test_a_file_whose_name_no_disk_takes_is_scanned_by_its_ending() -> None:
    assert values([TEXTS[0]], DetectSecrets()([TEXTS[0]], ["é" * 300 + ".py"])) == [{PASSWORD}]


def test_lone_surrogates_and_form_feeds_move_no_span() -> None:
    text = f"a = '\ud800\x0c\u2028'\npassword = '{PASSWORD}'\n"
    assert values([text], DetectSecrets()([text], ["a.py"])) == [{PASSWORD}]


def test_lines_end_at_lf_crlf_and_lone_cr() -> None:
    lines = Lines.of("a\r\nb\rc\n\x0cd")
    assert lines.read() == ["a", "b", "c", "\x0cd"]
    assert [lines.text[start:stop] for start, stop in lines.bounds] == lines.read()


def test_a_value_is_marked_wherever_it_stands_in_its_line() -> None:
    assert Lines.of("k\nxx k xx").places(1, "xx") == [(2, 4), (7, 9)]


def test_a_value_of_another_line_is_found_there_and_one_of_none_takes_its_line() -> None:
    lines = Lines.of("ab\ncd")
    assert lines.places(0, "d") == [(4, 5)]
    assert lines.places(1, "unescaped") == [(3, 5)]
