"""A Dask cluster of ours obeys nobody else, and one elsewhere is used with certificates.

another user connects to the scheduler of `make grade ENGINE=dask`   ->   refused, nothing ran
"""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from course_lib.bridges.cluster import TLS, connected

distributed = pytest.importorskip("distributed")

NOBODY = 65534
# What another account of the machine can do: talk to the port, without and with a key of its own.
STRANGER = """
import os, sys
from distributed import Client
from distributed.security import Security

port, uid, trace = sys.argv[1:]
if int(uid):
    os.setgroups([]), os.setgid(int(uid)), os.setuid(int(uid))
for scheme, security in (("tcp", None), ("tls", Security.temporary())):
    try:
        client = Client(f"{scheme}://127.0.0.1:{port}", security=security, timeout=2)
        client.submit(os.mkdir, trace).result(timeout=20)
        print("let in")
    except Exception as error:
        print("refused", type(error).__name__)
os._exit(0)
"""


def attacked(port: int, trace: Path) -> tuple[list[str], bool]:
    """What the stranger's two tries print, and whether their function ran."""
    trace.parent.mkdir()
    for folder in trace.parents[:4]:  # pytest's own are closed to others
        folder.chmod(0o755)
    trace.parent.chmod(0o777)
    uid = str(NOBODY if os.geteuid() == 0 else 0)  # without root the stranger is ourselves
    command = [sys.executable, "-c", STRANGER, str(port), uid, str(trace)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split(), trace.exists()


def port_of(client) -> int:
    return int(client.scheduler_info()["address"].rsplit(":", 1)[1])


@pytest.fixture
def open_cluster():
    """A cluster elsewhere that nobody has secured."""
    options = {"n_workers": 1, "processes": False, "protocol": "tcp", "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster.scheduler_address.removeprefix("tcp://")


def listening() -> list[tuple[str, int]]:
    """Where this process and those that it started listen."""
    import psutil

    here = psutil.Process()
    found = []
    for process in [here, *here.children(recursive=True)]:
        found += [c.laddr for c in process.net_connections("inet") if c.status == "LISTEN"]
    return [(address.ip, address.port) for address in found]


def test_another_user_is_refused_and_no_page_is_served(tmp_path):
    before = set(listening())
    with connected(jobs=1) as client:
        assert client.submit(os.getpid).result() != os.getpid()
        ours = set(listening()) - before
        assert len(ours) >= 3, "scheduler, nanny and worker"
        assert {address for address, _ in ours} == {"127.0.0.1"}
        assert 8787 not in {port for _, port in ours}
        for page in ("", "status", "health", "metrics", "info/main/workers.html"):
            for _, port in ours:
                with pytest.raises((urllib.error.HTTPError, OSError)):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=5)
        said, ran = attacked(port_of(client), tmp_path / "open" / "trace")
    assert said.count("refused") == 2 and "let" not in said
    assert not ran


def test_a_cluster_elsewhere_without_certificates_is_refused_unless_that_is_said_aloud(
    open_cluster, monkeypatch
):
    for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"):
        monkeypatch.delenv(f"{TLS}__{name}", raising=False)
    with pytest.raises(ValueError, match=r"certificates.*--insecure"):
        connected(open_cluster)
    with connected(open_cluster, insecure=True) as client:
        assert client.submit(sum, [1, 2]).result() == 3


def test_where_nothing_is_secured_the_stranger_gets_in(open_cluster, tmp_path):
    """So the test above can fail."""
    said, ran = attacked(int(open_cluster.rsplit(":", 1)[1]), tmp_path / "open" / "trace")
    assert said[0] == "let" and ran


def test_a_cluster_elsewhere_is_reached_with_the_certificates_of_dasks_configuration(
    open_cluster, tmp_path
):
    from dask import config
    from distributed.security import Security

    theirs = Security.temporary()
    files = {"ca-file": theirs.tls_ca_file, "client.cert": theirs.tls_client_cert,
             "client.key": theirs.tls_client_key}  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    named = {f"distributed.comm.tls.{name}": str(tmp_path / name) for name in files}
    options = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options, security=theirs) as cluster:
        address = cluster.scheduler_address.removeprefix("tls://")
        with config.set(named), connected(address) as client:
            assert client.submit(sum, [1, 2]).result() == 3
        with config.set(named), pytest.raises(ValueError, match="accepts these certificates"):
            connected(open_cluster)
        lost = {**named, "distributed.comm.tls.client.key": str(tmp_path / "nowhere")}
        with config.set(lost), pytest.raises(ValueError, match=r"no certificate or key .*nowhere"):
            connected(address)
