"""No process of the tests leaves this machine, so what passes them needs no network; here it is shown that leaving is refused."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable

import pytest
from program import INSTALLED, Program
from sitecustomize import REFUSED

ELSEWHERE = ("192.0.2.1", 9)  # of the addresses that nobody has (RFC 5737)


def datagram(ways: Callable[[socket.socket], object]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        ways(one)


LEAVING: dict[str, Callable[[], object]] = {
    "connect": lambda: socket.create_connection(ELSEWHERE, timeout=1),
    "connect_ex": lambda: socket.socket().connect_ex(ELSEWHERE),
    "sendto": lambda: datagram(lambda one: one.sendto(b"x", ELSEWHERE)),
    "sendmsg": lambda: datagram(lambda one: one.sendmsg([b"x"], [], 0, ELSEWHERE)),
    "a name": lambda: socket.getaddrinfo("example.org", 80),
    "a name by the older way": lambda: socket.gethostbyname("example.org"),
}


@pytest.mark.parametrize("way", LEAVING)
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_no_test_leaves_the_machine(way: str) -> None:
    with pytest.raises(OSError, match=REFUSED):
        LEAVING[way]()


def test_the_loopback_interface_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        client.sendall(b"x")
        assert socket.getaddrinfo("localhost", 80)


LEAVE = f"import socket; socket.create_connection({ELSEWHERE}, timeout=1)"


@pytest.mark.promise("network", "The tests pass while every connection other than loopback is refused.")
def test_no_process_that_a_test_starts_leaves_it_either() -> None:
    done = subprocess.run([sys.executable, "-c", LEAVE], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert REFUSED in done.stderr


def test_the_program_itself_sends_nothing(program: Program) -> None:
    with_it = Program(program.home, (sys.executable, "-c", LEAVE))
    assert REFUSED in with_it("status").stderr
    assert INSTALLED[0].startswith(sys.prefix)  # so the program has the interpreter that the line above has
