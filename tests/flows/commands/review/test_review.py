"""`privasis review` as a person uses it: make, hand out, take back, look."""

import csv
import io
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from flows import cli
from flows.review.folder import ReviewFolder, read_key
from tests.flows.conftest import MadeSet

CLI = CliRunner()


def run(*words: str | Path) -> Result:
    return CLI.invoke(cli.app, ["review", *map(str, words)], terminal_width=200)


def mails(folder: Path, lengths: Sequence[int]) -> Path:
    """Texts of the given lengths as JSON lines, one of them twice and one without words."""
    path = folder / "mails.jsonl"
    texts = [f"Mail {number}. " + "we met " * (words // 2 - 1) for number, words in enumerate(lengths)]
    rows = [{"body": text, "from": "a person"} for text in (*texts, texts[0], "...")]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.fixture
def review(made_set: MadeSet, tmp_path: Path) -> Path:
    """Four records and four mails, of about 200 words each."""
    human = mails(tmp_path, [40, *range(120, 300, 4), 5000])
    made = run("make", made_set.folder, "--human", human, "--text-column", "body", "-n", "4", "-o", tmp_path / "review")
    assert made.exit_code == 0, made.output
    assert "repeated 1" in made.output
    assert "no words 1" in made.output
    return tmp_path / "review"


def fill(table: Path, natural: str, coherent: str, *, only: Sequence[str] | None = None) -> None:
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8-sig"), newline="")))
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            answers = (
                {"natural": natural, "coherent": coherent}
                if only is None or row["id"].removeprefix("id-") in only
                else {}
            )
            writer.writerow(row | answers)


def test_a_sheet_of_both_sources_is_made_and_the_folder_tells_nothing_of_them(review: Path) -> None:
    key = read_key(ReviewFolder(review).key_file)
    sheet = ReviewFolder(review).sheet()
    assert sorted(key.sources(sheet).values()) == ["human"] * 4 + ["synthetic"] * 4
    longest = max(entry.words for entry in key.entries if entry.source == "human")
    assert longest < 2 * max(entry.words for entry in key.entries if entry.source == "synthetic")
    everything = b"".join(path.read_bytes() for path in review.rglob("*") if path.is_file()).decode()
    for hidden in ("synthetic", "human", "mails.jsonl", *(entry.name for entry in key.entries)):
        assert hidden not in everything
    assert ReviewFolder(review).key_file.stat().st_mode & 0o077 == 0


def test_the_same_draw_gives_the_same_sheet_and_nothing_is_written_over(
    review: Path, made_set: MadeSet, tmp_path: Path
) -> None:
    again = ("make", made_set.folder, "--human", tmp_path / "mails.jsonl", "--text-column", "body", "-n", "4")
    refused = run(*again, "-o", review)
    assert refused.exit_code == 2
    assert "is there already" in refused.output
    assert run(*again, "-o", tmp_path / "other").exit_code == 0
    assert (tmp_path / "other/sheet.json").read_bytes() == (review / "sheet.json").read_bytes()
    assert run(*again, "-o", tmp_path / "third", "--seed", "1").exit_code == 0
    assert (tmp_path / "third/sheet.json").read_bytes() != (review / "sheet.json").read_bytes()


def test_what_cannot_be_drawn_is_told_with_what_there_is(made_set: MadeSet, tmp_path: Path) -> None:
    human = mails(tmp_path, [40] * 20)
    few = run("make", made_set.folder, "--human", human, "--text-column", "body", "-n", "4", "-o", tmp_path / "r")
    assert few.exit_code == 2
    assert "only 0 of each are of like length" in few.output
    misspelled = run("make", made_set.folder, "--human", human, "-n", "4", "-o", tmp_path / "r")
    assert misspelled.exit_code == 2
    assert "no row has the column 'text'" in misspelled.output
    inside = run("make", made_set.folder, "--human", human, "-o", tmp_path / "r", "--key", tmp_path / "r/key.json")
    assert inside.exit_code == 2
    assert "is in the folder of the review" in inside.output
    assert not (tmp_path / "r").exists()


def test_tables_go_out_and_come_back_and_the_results_stand_beside_the_papers(review: Path, tmp_path: Path) -> None:
    key = read_key(ReviewFolder(review).key_file)
    human = [entry.id for entry in key.entries if entry.source == "human"]
    for name in ("ann", "Zoë K."):
        assert run("export", review, "--reviewer", name, "-o", tmp_path / f"{name}.csv").exit_code == 0
    fill(tmp_path / "ann.csv", "yes", "yes")
    fill(tmp_path / "Zoë K..csv", "y", "n", only=human)
    taken = run("import", review, tmp_path / "ann.csv", tmp_path / "Zoë K..csv")
    assert taken.exit_code == 0, taken.output
    assert "ann: 8 new judgements, 0 there already, 0 changed, 0 texts still to be judged" in taken.output
    assert "Zoë K.: 4 new judgements, 0 there already, 0 changed, 4 texts still to be judged" in taken.output

    found = json.loads(run("table", review, "--json").output)
    both = found["answers"]["both"]
    assert (both["synthetic"]["count"], both["synthetic"]["of"]) == (4, 4)
    assert (both["human"]["count"], both["human"]["of"], both["split"]) == (0, 4, 4)  # one yes, one no: half
    assert found["judgements"] == 12
    assert not (review / "results.json").exists()
    shown = run("table", review)
    assert shown.exit_code == 0
    assert "paper, 7 reviewers" in shown.output
    assert "113/128" in shown.output
    assert {path.name for path in review.glob("results.*")} == {"results.html", "results.md", "results.json"}


def test_a_file_that_differs_from_what_is_recorded_wants_a_word(review: Path, tmp_path: Path) -> None:
    table = tmp_path / "ann.csv"
    run("export", review, "--reviewer", "ann", "-o", table)
    fill(table, "yes", "yes")
    run("import", review, table)
    fill(table, "no", "yes")
    refused = run("import", review, table)
    assert refused.exit_code == 2
    assert "nothing was taken; with --replace the file holds" in refused.output
    assert all(each.natural for each in ReviewFolder(review).log.read("ann"))
    assert "8 changed" in run("import", review, table, "--replace").output
    assert run("table", review).exit_code == 0


def test_an_export_goes_on_from_what_is_recorded(review: Path, tmp_path: Path) -> None:
    first = tmp_path / "ann.csv"
    run("export", review, "--reviewer", "ann", "-o", first)
    fill(first, "yes", "no", only=[ReviewFolder(review).sheet().items[0].id])
    run("import", review, first)
    run("export", review, "--reviewer", "ann", "-o", tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text(encoding="utf-8").count("yes,no") == 1
    assert run("export", review, "--reviewer", "ann", "-o", tmp_path / "ann.html").exit_code == 0
    assert '"natural": true, "coherent": false' in (tmp_path / "ann.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("serve", "REVIEW"), "nobody reviews yet"),
        (("table", "REVIEW"), "nobody has judged a text yet"),
        (("export", "REVIEW", "--reviewer", "../x"), "a reviewer's name has"),
        (("export", "REVIEW", "--reviewer", "ann", "-o", "ann.docx"), ".docx: .html is the page, .csv a table"),
        (("table", "NOWHERE"), "no such file: `privasis review make` makes one"),
        (("import", "REVIEW", "NOWHERE/a.csv"), "No such file"),
    ],
)
def test_what_is_missing_is_told_and_what_to_do(review: Path, words: tuple[str, ...], says: str) -> None:
    ended = run(*(word.replace("REVIEW", str(review)).replace("NOWHERE", str(review / "none")) for word in words))
    assert ended.exit_code in (2, 3)
    assert says in ended.output


def test_a_name_that_differs_by_case_alone_is_one_file_on_some_disks_and_refused(review: Path, tmp_path: Path) -> None:
    run("export", review, "--reviewer", "ann", "-o", tmp_path / "a.html")
    twin = run("export", review, "--reviewer", "Ann", "-o", tmp_path / "b.html")
    assert twin.exit_code == 2
    assert "there is a reviewer ann already" in twin.output


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def test_a_server_that_is_killed_has_lost_nothing_that_it_said_was_saved(review: Path) -> None:
    flags = ("review", "serve", str(review), "--reviewer", "ann", "--port", str(free_port()))
    program = [sys.executable, "-c", "from flows.cli import main; main()", *flags]
    items = [item.id for item in ReviewFolder(review).sheet().order_of("ann")]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        told = server.stderr.readline() + server.stderr.readline() + server.stderr.readline()
        link = re.search(r"ann  (http://127\.0\.0\.1:\d+)/#(\S+)  0 of 8 judged", told)
        assert link is not None, told
        try:
            with httpx.Client(base_url=link[1], headers={"Authorization": f"Bearer {link[2]}"}) as page:
                wait_for(page)
                for item in items[:5]:
                    said = {"natural": True, "coherent": False, "comment": ""}
                    assert page.put(f"/api/texts/{item}", json=said).status_code == 200
        finally:
            server.send_signal(signal.SIGKILL)
    assert [each.item for each in ReviewFolder(review).log.read("ann")] == items[:5]


def wait_for(page: httpx.Client) -> None:
    for _ in range(200):
        try:
            assert page.get("/api/sheet").status_code == 200
        except httpx.ConnectError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError("the server does not listen")
