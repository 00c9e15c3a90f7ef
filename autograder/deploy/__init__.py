"""The grader where a class is: on Gradescope, in a job of GitHub or GitLab, beside a JupyterHub."""
