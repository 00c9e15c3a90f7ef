"""JupyterHub for a class on one machine. docs/deploy.md says how to install it.

    /opt/course/bin/jupyterhub --config /etc/jupyterhub/jupyterhub_config.py

Every student has an account of their own on the machine, and all of them share one installation,
which none of them can write. A test (tests/course/test_jupyterhub.py) starts a hub with this file;
it replaces only who may log in, as which account a server runs, and the ports.
"""

import os
import sys
from pathlib import Path

COURSE = Path(os.environ.get("COURSE", "/srv/course"))  # publish.py says what lies there
PROGRAMS = Path(sys.executable).parent  # of /opt/course

c = get_config()  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

# The door. Caddy or nginx stands in front of it with the certificate; nobody else reaches it.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"
c.ConfigurableHTTPProxy.command = [str(PROGRAMS / "configurable-http-proxy")]
c.JupyterHub.cleanup_servers = False  # after a restart of the hub, the servers still run
c.JupyterHub.concurrent_spawn_limit = 20  # when all come at ten past eight

# Who may come in: accounts of this machine in the group `students`, with their passwords.
c.JupyterHub.authenticator_class = "pam"
c.LocalAuthenticator.allowed_groups = {"students"}

# A student's server: JupyterLab in the student's home, as the student's account.
c.JupyterHub.spawner_class = "systemd"
c.Spawner.cmd = [str(PROGRAMS / "jupyterhub-singleuser")]
c.Spawner.notebook_dir = "~"
c.Spawner.default_url = "/lab"
c.Spawner.environment = {
    "GIT_CONFIG_SYSTEM": str(COURSE / "gitconfig"),  # git shall read a repository of the teacher's
    "OMP_NUM_THREADS": "2",  # as many as cpu_limit; else each kernel starts one for each core
}

# What one student can use up. A notebook of this course needs less than 1.8 GB, its server 0.2.
c.Spawner.mem_limit = "3G"
c.Spawner.cpu_limit = 2
c.SystemdSpawner.unit_extra_properties = {"TasksMax": "300", "ProtectProc": "invisible"}

# What one student can see: no other's /tmp, no other's processes, no devices, no way to root. What
# a kernel prints goes through files of its own account: anybody on the machine can read a port.
c.SystemdSpawner.isolate_tmp = True
c.SystemdSpawner.isolate_devices = True
c.SystemdSpawner.disable_user_sudo = True
c.Spawner.args = ["--KernelManager.transport=ipc"]

# Servers that nobody has used for an hour end, and so do their kernels. What was saved is saved.
c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", "--timeout=3600"],
    }
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    }
]
