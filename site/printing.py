"""The pages on paper: a PDF of each unit and one of the whole course (`make site PDF=1`).

    build/site/u02_rewrites.html   ->   build/site/pdf/u02_rewrites.pdf
    all of them, one behind the other ->   build/site/pdf/course.pdf

What is printed is the article of a page alone, without the theme's navigation and scripts. Folded
code is left out, and the folded hints stand at the end of a unit, open. Headless Chromium prints
with static/print.css, and numbers the pages.
"""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path

from tqdm import tqdm

ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.DOTALL)
STYLES = re.compile(r'<link [^>]*rel="stylesheet"[^>]*>')
HINTS = re.compile(r'<details class="hints"><summary>(.*?)</summary><p>(.*?)</p></details>')
HEADING = re.compile(r"<h[2-6]>Exercise <code[^>]*>(.*?)</code>")
TITLE = re.compile(r"<h1>(.*?)<a ")
NAMED = re.compile(r'\b(id|for|aria-labelledby|aria-describedby|name)="([^"]+)"|\burl\(#([^)]+)\)')
LINK = re.compile(r'<a ([^>]*?)href="([^"]*)"')
FOOT = (
    '<div style="font:8px sans-serif;width:100%;padding:0 16mm;display:flex;'
    'justify-content:space-between"><span class="title"></span>'
    '<span class="pageNumber"></span></div>'
)
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
LONG = 600_000  # milliseconds; a whole course has hundreds of pages


def print_pages(site: Path, names: list[str]) -> None:
    """Print each of these pages of the site, and all of them as one. Needs Chromium."""
    from playwright.sync_api import sync_playwright  # only who prints needs a browser

    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        raise ValueError(
            f"make site PDF=1 prints with Chromium; none of {', '.join(CHROMIUM)} is installed"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        jobs = {name: [name] for name in names} | {"course": names}
        for name, pages in tqdm(jobs.items(), "pages to print"):
            _print(browser, site, name, pages)
        browser.close()


def _print(browser: object, site: Path, name: str, pages: list[str]) -> None:
    """Write site/pdf/NAME.pdf. The document lies beside the pages while it is printed, because its
    styles do."""
    source, target = site / f"{name}-printed.html", site / "pdf" / f"{name}.pdf"
    target.parent.mkdir(exist_ok=True)
    source.write_text(document(site, pages), encoding="utf-8")
    page = browser.new_page()  # type: ignore[attr-defined]
    page.set_default_timeout(LONG)
    page.goto(source.as_uri())
    page.pdf(
        path=target,
        prefer_css_page_size=True,
        print_background=True,
        display_header_footer=True,
        header_template="<span></span>",
        footer_template=FOOT,
        outline=True,
        tagged=True,
    )
    page.close()
    source.unlink()


def document(site: Path, names: list[str]) -> str:
    """One page of HTML with the articles of these pages, and a list of them if they are several."""
    texts = {name: (site / f"{name}.html").read_text(encoding="utf-8") for name in names}
    titles = {name: html.unescape(_words(TITLE.search(text))) for name, text in texts.items()}
    course = len(names) > 1
    head = "Machine-learning compilers" if course else titles[names[0]]
    first = _contents(head, titles) if course else ""
    body = "".join(_article(name, text, names) for name, text in texts.items())
    styles = "".join(dict.fromkeys(STYLES.findall(texts[names[0]])))
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{html.escape(head)}</title>{styles}</head>"
        f'<body><main class="bd-article bd-content">{first}{body}</main></body></html>'
    )


def _article(name: str, text: str, printed: list[str]) -> str:
    found = ARTICLE.search(text)
    if found is None:
        raise ValueError(f"{name}.html has no article")
    body = _hints_at_the_end(found[1])
    body = NAMED.sub(lambda m: _own(m, name), body)
    body = LINK.sub(lambda m: f"<a {m[1]}{_target(m[2], name, printed)}", body)
    return f'<section class="printed" id="{name}">{body}</section>'


def _own(found: re.Match[str], name: str) -> str:
    """An id that no other unit has."""
    if found[3]:
        return f"url(#{name}-{found[3]})"
    return f'{found[1]}="{" ".join(f"{name}-{one}" for one in found[2].split())}"'


def _target(address: str, name: str, printed: list[str]) -> str:
    """Where a link leads on paper: within the document, out to the web, or nowhere."""
    if re.match(r"https?://", address):
        return f'href="{address}"'
    page, _, place = address.partition("#")
    page = page.removesuffix(".html") or name
    if page not in printed:
        return ""
    return f'href="#{page}-{place}"' if place else f'href="#{page}"'


def _hints_at_the_end(body: str) -> str:
    """A fold cannot be opened on paper, and an open hint gives too much away: so they move."""
    parts = re.split(r"(?=<h[2-6]>Exercise )", body)
    lists = []
    for part in parts:
        title, hints = HEADING.search(part), HINTS.findall(part)
        if title and hints:
            items = "".join(f"<li>{text}</li>" for _, text in hints)
            lists.append(f"<h3><code>{_words(title)}</code></h3><ol>{items}</ol>")
    listed = f"<h2>Hints</h2>{''.join(lists)}" if lists else ""
    return HINTS.sub("", body) + listed


def _contents(head: str, titles: dict[str, str]) -> str:
    items = "".join(f'<li><a href="#{n}">{html.escape(t)}</a></li>' for n, t in titles.items())
    return f'<section class="printed"><h1>{head}</h1><ul>{items}</ul></section>'


def _words(found: re.Match[str] | None) -> str:
    return re.sub(r"<[^>]+>", "", found[1]).strip() if found else ""
