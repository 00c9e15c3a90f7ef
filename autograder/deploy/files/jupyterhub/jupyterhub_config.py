# A JupyterHub for the course. Merge it into your jupyterhub_config.py: who may log in
# (JupyterHub.authenticator_class) and on which address it listens are yours to say.
c = get_config()  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

c.Spawner.default_url = "/lab"
# Every notebook runs in 2 GB, to which the tests hold it; the third is JupyterLab's. SystemdSpawner,
# DockerSpawner and KubeSpawner enforce the limits. The default spawner only tells the server of them.
c.Spawner.mem_limit = "3G"
c.Spawner.cpu_limit = 2
# As many threads for numpy, PyTorch and our kernels as the limit, not as the machine has cores.
c.Spawner.environment = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
