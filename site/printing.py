"""The pages on paper: a PDF of each unit and one of the whole course (`make site PDF=1`).

    build/site/u02_rewrites.html   ->   build/site/pdf/u02_rewrites.pdf
    all of them, one behind the other ->   build/site/pdf/course.pdf

What is printed is the article of a page alone, without the theme's navigation and scripts. Folded
code is left out, and the folded hints stand at the end of a unit, open. Headless Chromium prints
with static/print.css, numbers the pages and makes a bookmark of each heading.
"""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Iterator, Sequence
from itertools import accumulate, zip_longest
from pathlib import Path

from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject, TextStringObject
from tqdm import tqdm

ARTICLE = re.compile(r'<article class="bd-article">(.*?)</article>', re.DOTALL)
STYLES = re.compile(r'<link [^>]*rel="stylesheet"[^>]*>')
HINTS = re.compile(r'<details class="hints"><summary>(.*?)</summary><p>(.*?)</p></details>')
HEADING = re.compile(r"<h[2-6]>Exercise <code[^>]*>(.*?)</code>")
TITLE = re.compile(r"<h1>(.*?)<a ")
HEADINGS = re.compile(r"<h[1-6][^>]*>(.*?)</h[1-6]>", re.DOTALL)
HEADERLINK = re.compile(r'<a class="headerlink".*?</a>')
VERDICT = re.compile(r'(<section class="verdict[^>]*>\s*(?:<span.*?</span>\s*)?)<h4>(.*?)</h4>')
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
        for name in tqdm(names, "pages to print"):
            _print(browser, site, name, [name], ())
        begins = _first_pages(site, names)
        _print(browser, site, "course", names, begins)
        if (found := _found_pages(site / "pdf" / "course.pdf")) != begins:
            _print(browser, site, "course", names, found)
        browser.close()


def _first_pages(site: Path, names: list[str]) -> list[int]:
    """Where each unit begins in the whole course, whose first page is the contents."""
    lengths = [len(PdfReader(site / "pdf" / f"{name}.pdf").pages) for name in names]
    return list(accumulate(lengths[:-1], initial=2))


def _found_pages(course: Path) -> list[int]:
    """Where they do begin: the bookmarks of their titles, behind that of the contents."""
    reader = PdfReader(course)
    titles = [mark for mark in reader.outline if not isinstance(mark, list)]
    numbers = [reader.get_destination_page_number(mark) for mark in titles[1:]]
    return [number + 1 for number in numbers if number is not None]


def _print(browser: object, site: Path, name: str, pages: list[str], begins: Sequence[int]) -> None:
    """Write site/pdf/NAME.pdf. The document lies beside the pages while it is printed, because its
    styles do."""
    source, target = site / f"{name}-printed.html", site / "pdf" / f"{name}.pdf"
    target.parent.mkdir(exist_ok=True)
    source.write_text(text := document(site, pages, begins), encoding="utf-8")
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
    name_bookmarks(target, text)


def name_bookmarks(pdf: Path, text: str) -> None:
    """Give each bookmark the words of its heading in the HTML. Chromium doubles those of a heading
    that it has moved to the next page, and loses the space between two lines."""
    found = HEADINGS.findall(HEADERLINK.sub("", text))
    headings = [" ".join(html.unescape(re.sub(r"<[^>]+>", "", one)).split()) for one in found]
    writer = PdfWriter(clone_from=pdf)
    outline = writer.root_object.get("/Outlines", DictionaryObject()).get_object()
    for bookmark in _bookmarks(outline):
        meant = (k for k, words in enumerate(headings) if _is_of(str(bookmark["/Title"]), words))
        if (k := next(meant, None)) is not None:
            bookmark[NameObject("/Title")] = TextStringObject(headings[k])
            del headings[: k + 1]
    writer.write(pdf)


def _is_of(title: str, words: str) -> bool:
    """Is it this heading, with or without some of its parts once more?"""
    letters = iter("".join(title.split()))
    doubled = len(title) <= 2 * len(words)
    return doubled and title.startswith(words[:5]) and all(c in letters for c in words if c > " ")


def _bookmarks(above: DictionaryObject) -> Iterator[DictionaryObject]:
    """All below this one, in the order of the pages."""
    child = above.get("/First")
    while child:
        bookmark = child.get_object()
        yield bookmark
        yield from _bookmarks(bookmark)
        child = bookmark.get("/Next")


def document(site: Path, names: list[str], begins: Sequence[int] = ()) -> str:
    """One page of HTML with the articles of these pages; if they are several, with a list of them
    and of the pages on which they begin."""
    texts = {name: (site / f"{name}.html").read_text(encoding="utf-8") for name in names}
    titles = {name: html.unescape(_words(TITLE.search(text))) for name, text in texts.items()}
    course = len(names) > 1
    head = "Machine-learning compilers" if course else titles[names[0]]
    first = _contents(head, titles, begins) if course else ""
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
    body = _hints_at_the_end(VERDICT.sub(r"\1<p><b>\2</b></p>", found[1]))  # no bookmark
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


def _contents(head: str, titles: dict[str, str], begins: Sequence[int]) -> str:
    items = "".join(
        f'<li><a href="#{name}">{html.escape(title)}</a><span>{page}</span></li>'
        for (name, title), page in zip_longest(titles.items(), begins, fillvalue="")
    )
    return f'<section class="printed"><h1>{head}</h1><ol class="contents">{items}</ol></section>'


def _words(found: re.Match[str] | None) -> str:
    return re.sub(r"<[^>]+>", "", found[1]).strip() if found else ""
