"""Daemons in the foreground: starting, waiting, ending."""

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_WAIT_S = 30.0


@contextmanager
def daemon_process(
    command: list[str], log: Path, environment: dict[str, str] | None = None
) -> Iterator[None]:
    """Run a daemon while the block runs, and end it by its own id."""
    with (log.parent / f"{Path(command[0]).name}.out").open("w") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until(ready: Callable[[], bool], log: Path) -> None:
    """Ask again until it is so.

    Raises:
        RuntimeError: it is not after half a minute; the message ends with the log's end.
    """
    end = time.monotonic() + _WAIT_S
    while time.monotonic() < end:
        try:
            if ready():
                return
        except subprocess.CalledProcessError:
            pass
        time.sleep(0.1)
    tail = log.read_text()[-2000:] if log.exists() else "it wrote no log"
    raise RuntimeError(f"Slurm was not so far after {_WAIT_S:.0f} s; {log.name}: {tail}")


def program(name: str) -> str | None:
    """Where a program lies; daemons lie outside an ordinary user's path."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nothing listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
