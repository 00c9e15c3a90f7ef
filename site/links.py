"""The row below the title of a page: what one can do with the unit, and where it comes from.

    Open on Binder · Notebook (.ipynb) · PDF · Source · Edit · Report a mistake

The repository's address is `Repository` of [project.urls] in pyproject.toml. Where there is none,
the row has no link that needs it.
"""

from __future__ import annotations

import html
import tomllib
from pathlib import Path
from urllib.parse import quote, urlsplit

from autograder.edition.contents import notebook_bytes
from autograder.edition.sources import Source

COURSE = Path(__file__).resolve().parent.parent
BRANCH = "main"
BINDER = "https://mybinder.org/v2/{host}/HEAD?urlpath=lab/tree/course/{name}.ipynb"
START, OPEN = "start", "Open on Binder"
HOSTS = {"github.com": "gh", "gitlab.com": "gl"}  # as Binder calls them


def repository(pyproject: Path = COURSE / "pyproject.toml") -> str:
    """Where the course is hosted; "" if that is not known."""
    urls = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"].get("urls", {})
    return urls.get("Repository", "").removesuffix("/").removesuffix(".git")


def downloaded(source: Source) -> bytes:
    """The student's notebook as who learns alone gets it, and as Binder opens it."""
    return notebook_bytes(source, solutions=False, alone=True)


def row(source: Source, home: str, printed: bool) -> str:
    """The links of one page as HTML on one line. `printed` says that there are PDFs."""
    links = dict[str, str]()
    links["Notebook (.ipynb)"] = f"notebooks/{source.name}.ipynb"
    if printed:
        links["PDF"] = f"pdf/{source.name}.pdf"
    if home:
        links |= in_repository(home, source.name)
    items = "".join(_item(words, address) for words, address in links.items())
    first = f"<li>{badge(home, source.name)}</li>" if home else ""
    return f'<nav class="work" aria-label="This unit as a notebook"><ul>{first}{items}</ul></nav>'


def badge(home: str, name: str = START) -> str:
    """A link to Binder as HTML; the picture is ours and is asked for nowhere else."""
    address = html.escape(binder(home, name))
    return f'<a href="{address}"><img class="badge" src="_static/binder.svg" alt="{OPEN}"></a>'


def in_readme(home: str) -> str:
    """The same as Markdown, as README.md has it."""
    return f"[![{OPEN}](docs/img/binder.svg)]({binder(home, START)})"


def binder(home: str, name: str) -> str:
    """The notebook in JupyterLab, on a machine of mybinder.org."""
    parts = urlsplit(home)
    kind = HOSTS.get(parts.netloc)
    path = parts.path.strip("/")
    host = f"{kind}/{path if kind == 'gh' else quote(path, safe='')}" if kind else ""
    return BINDER.format(host=host or f"git/{quote(home, safe='')}", name=name)


def in_repository(home: str, name: str) -> dict[str, str]:
    """Source, editing and issues, as GitHub (and Gitea) or GitLab lay out their addresses."""
    base = f"{home}/-" if "gitlab" in urlsplit(home).netloc else home
    title = "issue[title]" if base != home else "title"
    path = f"{BRANCH}/notebooks/{name}.md"
    return {
        "Source": f"{base}/blob/{path}",
        "Edit": f"{base}/edit/{path}",
        "Report a mistake": f"{base}/issues/new?{quote(title)}={quote(name + ': ')}",
    }


def _item(words: str, address: str) -> str:
    save = " download" if address.endswith(".ipynb") and "//" not in address else ""
    return f'<li><a href="{html.escape(address)}"{save}>{words}</a></li>'


if __name__ == "__main__":
    print(in_readme(repository()) if repository() else "pyproject.toml names no Repository")
