import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.gates import judge_port_free
from omnitui.model import MARKER, marker
from omnitui.probes.listeners import look
from omnitui.readings import Listener
from tests.waiting import until

HEAD = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
    "                                                     \n"
)
HEAD6 = (
    "  sl  local_address                         remote_address                        st tx_queue rx_queue tr"
    " tm->when retrnsmt   uid  timeout inode\n"
)
REST = "00000000:00000000 00:00000000 00000000     0        0"
TAIL = "1 0000000000000000 100 0 0 10 0"
NOBODY = 4_000_000_000
"""An inode that no socket on this machine has."""


def row(address: str, port: int, state: str = "0A", inode: int = NOBODY, remote: str = "00000000:0000") -> str:
    return f"   0: {address}:{port:04X} {remote} {state} {REST} {inode} {TAIL}\n"


LOOPBACK, ANY, LAN = "0100007F", "00000000", "0500A8C0"
ANY6, LOOPBACK6, MAPPED = "0" * 32, "0" * 24 + "01000000", "0000000000000000FFFF00000100007F"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "tcp").write_text(HEAD)
    (tmp_path / "net" / "tcp6").write_text(HEAD6)
    return tmp_path


def addresses(proc: Path, port: int = 8000) -> list[str]:
    reading = look(port, proc=proc)
    assert reading.error == ""
    assert reading.port == port
    return [one.address for one in reading.listeners]


# -- recorded tables -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "line", "found"),
    [
        ("tcp", row(LOOPBACK, 8000), ["127.0.0.1"]),
        ("tcp", row(ANY, 8000), ["0.0.0.0"]),
        ("tcp", row(LAN, 8000), ["192.168.0.5"]),
        ("tcp6", row(ANY6, 8000), ["::"]),
        ("tcp6", row(LOOPBACK6, 8000), ["::1"]),
        ("tcp6", row(MAPPED, 8000), ["::ffff:127.0.0.1"]),
        ("tcp", row(LOOPBACK, 8000, "06", 0), []),
        ("tcp", row(LOOPBACK, 8000, "01"), []),
        ("tcp", row(LOOPBACK, 8000, "07"), []),
        ("tcp", row(LOOPBACK, 50_000, "01", remote="0100007F:1F40"), []),
        ("tcp", row(LOOPBACK, 50_000, "0A", remote="0100007F:1F40"), []),
        ("tcp", row(LOOPBACK, 80), []),
        ("tcp", row("00001F40", 80), []),
        ("tcp6", row("00000000000000000000000000001F40", 443), []),
    ],
)
def test_only_listeners_of_the_port_itself_count(proc: Path, table: str, line: str, found: list[str]) -> None:
    with (proc / "net" / table).open("a") as file:
        file.write(line)
    assert addresses(proc) == found


def test_ports_that_end_in_the_same_digits_are_others(proc: Path) -> None:
    # 0x0050 is 80, 0x1050 is 4176, 0x5000 is 20480.
    (proc / "net" / "tcp").write_text(HEAD + row(LOOPBACK, 0x1050) + row(ANY, 0x5000) + row(LAN, 0x0050))
    assert addresses(proc, 80) == ["192.168.0.5"]
    assert addresses(proc, 0x1050) == ["127.0.0.1"]
    assert addresses(proc, 0x050) == ["192.168.0.5"]


def test_listeners_of_both_tables_are_told(proc: Path) -> None:
    lines = row(LOOPBACK, 22) + row(ANY, 8000) + row(ANY, 8000, "06", 0)
    (proc / "net" / "tcp").write_text(HEAD + lines)
    (proc / "net" / "tcp6").write_text(HEAD6 + row(LOOPBACK6, 8000))
    reading = look(8000, proc=proc)
    assert reading.listeners == (Listener("0.0.0.0", None, "", ours=False), Listener("::1", None, "", ours=False))


def test_a_host_without_ipv6_has_one_table(proc: Path) -> None:
    (proc / "net" / "tcp6").unlink()
    assert addresses(proc) == []


def test_a_table_that_cannot_be_read_is_an_error_and_not_free(tmp_path: Path, proc: Path) -> None:
    assert "cannot be read" in look(8000, proc=tmp_path / "nobody").error
    (proc / "net" / "tcp").unlink()
    assert "cannot be read" in look(8000, proc=proc).error
    (proc / "net" / "tcp").mkdir()
    assert "cannot be read" in look(8000, proc=proc).error


_rows = st.tuples(
    st.sampled_from((LOOPBACK, ANY, LAN)), st.integers(1, 65_535), st.sampled_from(("01", "06", "08", "0A"))
)


@given(st.lists(_rows, max_size=6), st.integers(1, 65_535))
def test_a_port_is_free_unless_it_is_listened_on(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, str]], port: int
) -> None:
    proc = tmp_path_factory.mktemp("proc")
    (proc / "net").mkdir()
    (proc / "net" / "tcp").write_text(HEAD + "".join(row(*one) for one in rows))
    for asked in {port, *(one[1] for one in rows)}:
        expected = [state for _, number, state in rows if number == asked and state == "0A"]
        assert len(look(asked, proc=proc).listeners) == len(expected)


# -- real sockets ----------------------------------------------------------------------------------------------


def test_a_real_listener_is_seen_with_its_owner(free_port: int) -> None:
    port = free_port
    with socket.create_server(("127.0.0.1", port)):
        (mine,) = look(port, [os.getpid()]).listeners
        assert (mine.address, mine.pid, mine.ours) == ("127.0.0.1", os.getpid(), True)
        assert mine.command
        (other,) = look(port, [1]).listeners
        assert (other.pid, other.ours) == (os.getpid(), False)
    assert look(port).listeners == ()


def test_a_listener_that_a_run_left_behind_is_told_with_its_run() -> None:
    program = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); input()"
    )
    environment = {**os.environ, MARKER: marker("20260302-115000-demo", "main/run1/server", 1)}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as left:
        assert left.stdout
        reading = look(int(left.stdout.readline()))
        left.kill()
    assert reading.listeners[0].run == "20260302-115000-demo"
    assert f"pid {left.pid}" in judge_port_free(reading).reason
    assert judge_port_free(reading).reason.endswith("of run 20260302-115000-demo")


def test_a_bound_port_without_listener_is_free() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        assert look(port).listeners == ()
        bound.listen()
        assert len(look(port).listeners) == 1


def test_a_real_ipv6_listener_is_seen() -> None:
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("there is no IPv6 here")
    with server:
        (one,) = look(server.getsockname()[1], [os.getpid()]).listeners
        assert (one.address, one.ours) == ("::1", True)


def test_a_port_in_time_wait_is_free(free_port: int) -> None:
    port = free_port
    with socket.create_server(("127.0.0.1", port)) as server:
        client = socket.create_connection(("127.0.0.1", port))
        accepted, _ = server.accept()
        # The side that closes first is the one that waits.
        accepted.close()
        client.close()

    def waits() -> bool:
        table = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
        return any(row[1].endswith(f":{port:04X}") for row in table if row[3] == "06")

    until(waits, about="the kernel has taken leave of the client")
    assert look(port).listeners == ()
