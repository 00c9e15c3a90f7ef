"""A Dask cluster that obeys nobody else.

    with connected(jobs=2) as client: ...           # one of our own, on this machine
    with connected("10.0.0.1:8786") as client: ...  # one elsewhere, with your certificates

A scheduler runs whatever function it is sent, as the user who started it, and does not ask who
sends it. So ours has a key that is made for it, stays in memory and is gone with it; both sides
have to show that they have it (TLS). For a cluster elsewhere, you need the certificates that its
scheduler was started with. Dask's configuration names them, a file in
~/.config/dask or the environment:

    DASK_DISTRIBUTED__COMM__TLS__CA_FILE, ..._TLS__CLIENT__CERT, ..._TLS__CLIENT__KEY

Next room: `course_lib/tune/farm.py`, which measures there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from course_lib.packages import need

# Pages with tasks and logs, which a browser gets without a key: none are served.
NO_PAGES = {"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}
OWN = {
    "threads_per_worker": 1,
    "processes": True,
    "dashboard_address": None,
    "scheduler_kwargs": {
        "dashboard": False,
        "dashboard_address": "127.0.0.1:0",
        "allowed_failures": 3,  # workers that one task may lose before it is not tried again
    },
}
TLS = "DASK_DISTRIBUTED__COMM__TLS"
NO_KEY = (
    "{address}: a cluster elsewhere needs certificates, because anyone who reaches a scheduler "
    f"without them can run code on it. Name them in {TLS}__CA_FILE, {TLS}__CLIENT__CERT and "
    f"{TLS}__CLIENT__KEY (or in Dask's configuration), or use --insecure"
)
INSECURE = (
    "Insecure: {address} is used without TLS. Anyone who reaches it, or the network in between, "
    "can read what is sent, change the results, and run code there and here."
)


def connected(address: str = "", jobs: int = 1, insecure: bool = False) -> Any:
    """A client of the cluster at this address; without one, of a new cluster of `jobs` processes,
    which ends with the client. ValueError in words where it cannot be had safely."""
    need("distributed")
    need("cryptography")
    from dask import config
    from distributed import Client

    if not address:
        config.set(NO_PAGES)
        return Client(security=True, n_workers=jobs, **OWN)
    plain = address.split("://")[-1]
    if insecure:
        return Client(f"tcp://{plain}")
    security = _certificates(plain)
    try:
        return Client(f"tls://{plain}", security=security)
    except (OSError, ValueError) as error:
        why = f"{plain}: no scheduler there accepts these certificates: {error}"
        raise ValueError(why) from None


def _certificates(address: str) -> Any:
    """What Dask's configuration names: the authority that both trust, our certificate and key."""
    from distributed.security import Security

    security = Security(require_encryption=True)
    if not (security.tls_ca_file and security.tls_client_cert):
        raise ValueError(NO_KEY.format(address=address))
    for name in (security.tls_ca_file, security.tls_client_cert, security.tls_client_key):
        if name and not Path(name).is_file():
            raise ValueError(f"{address}: there is no certificate or key {name}")
    return security
