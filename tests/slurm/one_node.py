"""A Slurm of one node with one pretended GPU: its own daemons, configuration and state, all in one folder."""

import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.slurm.daemons import daemon_process, free_ports, program, wait_until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scancel", "scontrol")
_ENDED = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT"}

# The node claims more than the machine may have: the study's jobs are small, whatever they ask for.
_CONFIGURATION = """\
ClusterName=poscope
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=2,batch_sched_delay=0
GresTypes=gpu
MinJobAge=3600
MpiDefault=none
NodeName=node NodeHostname={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=16000 Gres=gpu:1
PartitionName=cpu Nodes=node Default=YES MaxTime=600
PartitionName=gpu Nodes=node MaxTime=2880
"""


@dataclass(frozen=True)
class OneNode:
    """A running Slurm; its programs find it by `environment`."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment with the place of the configuration, and a `srun` that knows it."""
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])
        return {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def ask(self, *arguments: str) -> str:
        """What `scontrol` answers."""
        done = subprocess.run(
            ["scontrol", *arguments],
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def jobs(self) -> list[dict[str, str]]:
        """Every job that the controller has seen, by the field names of `scontrol show job`."""
        lines = self.ask("show", "job", "--oneliner").splitlines()
        return [
            dict(part.split("=", 1) for part in line.split() if "=" in part)
            for line in lines
            if line.startswith("JobId=")
        ]


def missing_for_slurm() -> str | None:
    """Why no Slurm can be started here, or nothing."""
    missing = [name for name in PROGRAMS if program(name) is None]
    if missing:
        return f"{', '.join(missing)} not found: on Debian, apt-get install slurm-wlm munge"
    if os.geteuid() != 0:
        return "Slurm's daemons are started as root, and this is another user"
    return None


@contextmanager
def one_node_slurm(folder: Path) -> Iterator[OneNode]:
    """Start munge, the controller and one node in an empty folder, and stop them when the block ends.

    Raises:
        RuntimeError: a daemon ended, or the node was not ready in time; the message ends with its log.
    """
    _prepare(folder)
    slurm = OneNode(folder)
    with ExitStack() as daemons:
        _start_munge(daemons, folder)
        for name, options in (("slurmctld", ("-D",)), ("slurmd", ("-D", "-N", "node"))):
            daemons.enter_context(_daemon(slurm, name, *options))
        wait_until(lambda: "State=IDLE" in slurm.ask("show", "node", "node"), folder / "slurmd.log")
        try:
            yield slurm
        finally:
            _end_jobs(slurm)


def _end_jobs(slurm: OneNode) -> None:
    """Cancel what still runs: jobs outlive the daemons."""
    subprocess.run(["scancel", "--me", "--full"], env=slurm.environment, check=True)
    wait_until(
        lambda: all(job["JobState"] in _ENDED for job in slurm.jobs()), slurm.folder / "slurmd.log"
    )


def _prepare(folder: Path) -> None:
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir(parents=True, mode=0o755)
    ports = free_ports(2)
    settings = {"host": socket.gethostname().split(".")[0], "folder": folder}
    (folder / "slurm.conf").write_text(
        _CONFIGURATION.format(controller_port=ports[0], node_port=ports[1], **settings)
    )
    # A container has no version 2 hierarchy of its own to write to.
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    # Any device that exists passes for a card: nothing opens it.
    (folder / "gres.conf").write_text("NodeName=node Name=gpu File=/dev/zero\n")
    _write_srun(folder)
    key = folder / "munge" / "key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))


def _write_srun(folder: Path) -> None:
    """A `srun` that finds this Slurm: the executor takes SLURM_CONF out of the environment of a job's steps."""
    wrapper = folder / "bin" / "srun"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun")} "$@"\n'
    )
    wrapper.chmod(0o755)


def _start_munge(daemons: ExitStack, folder: Path) -> None:
    own = folder / "munge"
    command = [
        *(program("munged") or "munged", "--foreground", "--force"),
        *(f"--{name}={own / value}" for name, value in _MUNGE_FILES.items()),
    ]
    daemons.enter_context(daemon_process(command, own / "log"))
    wait_until(lambda: (own / "socket").exists(), own / "log")


_MUNGE_FILES = {
    "socket": "socket",
    "key-file": "key",
    "pid-file": "pid",
    "seed-file": "seed",
    "log-file": "log",
}


@contextmanager
def _daemon(slurm: OneNode, name: str, *options: str) -> Iterator[None]:
    log = slurm.folder / f"{name}.log"
    with daemon_process([program(name) or name, *options], log, slurm.environment):
        if name == "slurmctld":
            wait_until(lambda: "is UP" in slurm.ask("ping"), log)
        yield
