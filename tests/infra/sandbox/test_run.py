"""A confined program does its work, and nothing else."""

from pathlib import Path

import pytest

from infra.sandbox.run import Limits, Outcome, run_python

QUICK = Limits(wall_s=20, cpu_s=5)


def run(source: str, limits: Limits = QUICK) -> Outcome:
    return run_python(source, limits)


def test_a_program_that_ends_well_passes() -> None:
    outcome = run("import json, math, re, collections\nprint(json.dumps({'pi': round(math.pi, 2)}))")
    assert (outcome.kind, outcome.status, outcome.stdout) == ("passed", 0, '{"pi": 3.14}\n')


def test_a_failed_assertion_fails_and_is_told() -> None:
    outcome = run("assert 1 == 2, 'one is not two'")
    assert (outcome.kind, outcome.status) == ("failed", 1)
    assert "AssertionError: one is not two" in outcome.stderr


def test_what_is_no_python_fails() -> None:
    assert run("def").kind == "failed"
    assert run("x = '\udc80'").kind == "failed"  # nor is a lone surrogate, which models do write


def test_line_ends_inside_a_program_are_kept() -> None:
    source = "text = 'a'\r\nprint(open(__file__, 'rb').read().count(b'\\r\\n'))\r\n"
    assert run(source).stdout == "2\n"


def test_a_program_that_sleeps_ends_at_the_wall_clock_limit() -> None:
    outcome = run("import time\ntime.sleep(60)", Limits(wall_s=1))
    assert outcome.kind == "timeout"
    assert outcome.seconds < 20


def test_a_program_that_spins_ends_at_the_processor_limit() -> None:
    assert run("while True: pass", Limits(wall_s=60, cpu_s=1)).kind == "timeout"


def test_memory_ends() -> None:
    outcome = run("bytearray(1 << 29)", Limits(memory_bytes=1 << 28))
    assert (outcome.kind, "MemoryError" in outcome.stderr) == ("failed", True)


def test_output_ends() -> None:
    outcome = run("while True: print('x' * 1000)", Limits(cpu_s=5, file_bytes=1 << 16))
    assert outcome.kind == "failed"
    assert len(outcome.stdout) <= 1 << 16


def test_there_is_no_network() -> None:
    outcome = run("import socket\nsocket.socket(socket.AF_INET, socket.SOCK_STREAM)")
    assert "PermissionError" in outcome.stderr


@pytest.mark.parametrize("start", ["os.fork()", "subprocess.run(['/bin/true'])", "os.posix_spawn('/bin/true', [], {})"])
def test_there_are_no_further_processes(start: str) -> None:
    outcome = run(f"import os, subprocess\n{start}\nprint('started')")
    assert (outcome.kind, outcome.stdout) == ("failed", "")


def test_threads_are_allowed() -> None:
    source = "import threading\nthread = threading.Thread(target=print, args=('hello',))\nthread.start()\nthread.join()"
    assert run(source).stdout == "hello\n"


def test_others_get_no_signals() -> None:
    assert "PermissionError" in run("import os\nos.kill(os.getppid(), 0)").stderr
    assert run("import os\nos.abort()").kind == "killed"  # itself may end itself


def test_it_writes_into_its_folder_alone(tmp_path: Path) -> None:
    mine = "import tempfile, pathlib\npathlib.Path('a.txt').write_text('a')\ntempfile.TemporaryFile().write(b'b')"
    assert run(mine).kind == "passed"
    kept = tmp_path / "kept.txt"
    kept.write_text("kept")
    for harm in (f"open({str(kept)!r}, 'w')", f"os.remove({str(kept)!r})", f"os.mkdir({str(tmp_path / 'new')!r})"):
        assert "PermissionError" in run(f"import os\n{harm}").stderr
    assert kept.read_text() == "kept"
    assert not (tmp_path / "new").exists()


def test_it_reads_nothing_of_others(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("s3cret")
    for reading in (f"open({str(secret)!r}).read()", "open('/etc/passwd').read()", "open('/proc/self/environ').read()"):
        outcome = run(f"print({reading})")
        assert (outcome.stdout, "PermissionError" in outcome.stderr) == ("", True)


def test_nothing_of_our_environment_is_in_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "s3cret")
    assert "A_SECRET" not in run("import os\nprint(sorted(os.environ))").stdout


def test_root_has_no_rights_over_the_machine() -> None:
    assert "PermissionError" in run("import os\nos.chroot('/')").stderr


def test_two_runs_print_the_same() -> None:
    assert run("print(list({'a', 'b', 'c', 'd'}))").stdout == run("print(list({'a', 'b', 'c', 'd'}))").stdout


def test_its_folder_goes_with_it() -> None:
    folder = run("import os\nprint(os.getcwd())").stdout.strip()
    assert folder
    assert not Path(folder).exists()
