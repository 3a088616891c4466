"""Gives up rights that a Python program need not have, and becomes that program.

Run as a file by ``infra.sandbox.run`` in a process of its own, and so it imports the standard library alone. What the
kernel takes away here, no program gets back: resource limits, capabilities, every path but its own folder and the
interpreter's (Landlock), and sockets, further processes and signals to others (seccomp).

Usage: confine.py WORK_DIR PROGRAM CPU_SECONDS MEMORY_BYTES FILE_BYTES
"""

import ctypes
import errno
import os
import platform
import resource
import signal
import sys
from pathlib import Path
from typing import NoReturn

CANNOT_CONFINE = 97  # exit status that no Python program ends with by itself
OPEN_FILES = 64

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _PR_CAPBSET_READ, _PR_CAPBSET_DROP = 38, 22, 23, 24

# Landlock: system calls have the same numbers on every processor.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE = 1 << 14
_RIGHTS_OF_ABI = {1: 13, 2: 14, 3: 15, 4: 15}  # bits that it knows; from 5 on 16

# Seccomp: numbers of what is refused. Processes and signals would outlive or reach past the time limit.
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_REFUSED = {
    "x86_64": {
        "socket": 41, "fork": 57, "vfork": 58, "rt_sigqueueinfo": 129, "tkill": 200, "rt_tgsigqueueinfo": 297,
        "pidfd_send_signal": 424, "io_uring_setup": 425,
    },
    "aarch64": {
        "socket": 198, "rt_sigqueueinfo": 138, "tkill": 130, "rt_tgsigqueueinfo": 240,
        "pidfd_send_signal": 424, "io_uring_setup": 425,
    },
}  # fmt: skip
_CLONE = {"x86_64": 56, "aarch64": 220}
_KILL = {"x86_64": (62, 234), "aarch64": (129, 131)}  # kill, tgkill: to the program itself only (``abort``)
_CLONE3 = 435  # its flags are out of a filter's sight: libc falls back to clone when it is told that there is none
_CLONE_THREAD = 0x10000
_X32 = 0x40000000  # x86_64 only: the same calls by other numbers


class _Filter(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint32)]


class _Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.POINTER(_Filter))]


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def main(work: str, program: str, cpu_s: str, memory_bytes: str, file_bytes: str) -> NoReturn:
    """Confine this process and run ``program`` in it."""
    try:
        _limit(int(cpu_s), int(memory_bytes), int(file_bytes))
        _drop_capabilities()
        # Whoever would end the program at its limits may be killed: then it goes as well.
        _must(_LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "a signal at the parent's end")
        _must(_LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        _confine_files(Path(work))
        _filter_calls()
    except (OSError, KeyError) as error:
        sys.stderr.write(f"{error!r} on Linux {platform.release()}, {platform.machine()}\n")
        os._exit(CANNOT_CONFINE)
    os.execv(sys.executable, [sys.executable, "-s", "-B", program])


def _limit(cpu_s: int, memory_bytes: int, file_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))  # a signal at the first, the end at the second
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _drop_capabilities() -> None:
    """Leave root no more rights over the machine than anybody has, from the next ``exec`` on."""
    if os.geteuid() == 0:
        last = int(Path("/proc/sys/kernel/cap_last_cap").read_text(encoding="ascii"))
        for capability in range(last + 1):
            if _LIBC.prctl(_PR_CAPBSET_READ, capability, 0, 0, 0) == 0:  # a container may have taken it already
                continue
            _must(_LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0), f"capability {capability}")


def _confine_files(work: Path) -> None:
    abi = _must(_LIBC.syscall(_CREATE_RULESET, None, 0, 1), "Landlock")
    known = (1 << _RIGHTS_OF_ABI.get(abi, 16)) - 1
    handled = ctypes.c_uint64(known)
    ruleset = _must(_LIBC.syscall(_CREATE_RULESET, ctypes.byref(handled), 8, 0), "Landlock ruleset")
    _allow(ruleset, work, known)
    environment = Path(sys.executable).parent.parent  # a virtual environment: ``-S`` keeps it out of ``sys.prefix``
    for place in (environment, Path(sys.base_prefix), *map(Path, ("/usr", "/lib", "/lib64", "/etc/ld.so.cache"))):
        _allow(ruleset, place, _EXECUTE | _READ_FILE | _READ_DIR)
    for place in map(Path, ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")):
        _allow(ruleset, place, _READ_FILE | _WRITE_FILE | (_TRUNCATE & known))
    _must(_LIBC.syscall(_RESTRICT_SELF, ruleset, 0), "Landlock restriction")
    os.close(ruleset)


def _allow(ruleset: int, place: Path, rights: int) -> None:
    if not place.exists():  # there is no /lib64 on every system
        return
    if not place.is_dir():
        rights &= _EXECUTE | _READ_FILE | _WRITE_FILE | _TRUNCATE
    descriptor = os.open(place, os.O_PATH | os.O_CLOEXEC)
    rule = _PathRule(rights, descriptor)
    _must(_LIBC.syscall(_ADD_RULE, ruleset, 1, ctypes.byref(rule), 0), f"Landlock rule for {place}")
    os.close(descriptor)


def _filter_calls() -> None:
    machine = platform.machine()
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000  # the latter with the number of an error
    kill, absent = 0x80000000, refuse | errno.ENOSYS
    denied = refuse | errno.EACCES
    number, architecture, argument = 0, 4, 16  # offsets in what the kernel hands a filter
    steps: list[tuple[int, int, int, int]] = [
        (load, 0, 0, architecture),
        (equal, 1, 0, _ARCHITECTURES[machine]),
        (give, 0, 0, kill),
        (load, 0, 0, number),
        (at_least, 0, 1, _X32),
        (give, 0, 0, denied),
        (equal, 0, 1, _CLONE3),
        (give, 0, 0, absent),
    ]
    for call in _REFUSED[machine].values():
        steps += [(equal, 0, 1, call), (give, 0, 0, denied)]
    steps += [
        (equal, 0, 4, _CLONE[machine]),
        (load, 0, 0, argument),
        (any_bit, 1, 0, _CLONE_THREAD),
        (give, 0, 0, denied),
        (give, 0, 0, allow),
    ]
    for call in _KILL[machine]:
        steps += [
            (equal, 0, 4, call),
            (load, 0, 0, argument),
            (equal, 1, 0, os.getpid()),
            (give, 0, 0, denied),
            (give, 0, 0, allow),
        ]
    steps.append((give, 0, 0, allow))
    filters = (_Filter * len(steps))(*[_Filter(*step) for step in steps])
    program = _Program(len(steps), filters)
    _must(_LIBC.prctl(_PR_SET_SECCOMP, 2, ctypes.byref(program), 0, 0), "seccomp")


def _must(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


if __name__ == "__main__":
    main(*sys.argv[1:])
