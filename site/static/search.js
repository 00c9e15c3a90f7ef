/* How the search orders what it finds, and what it quotes. Sphinx copies this before its own code.
 *
 *   exactly this term, op or pass  >  pages of units  >  the library  >  pages for teachers
 */
var Scorer = {
  score: ([page, title, anchor, description, score, file, kind]) => {
    const exact = kind === "index" && score >= 100;
    if (/^(units\/|instructors$|deploy|authoring$)/.test(page)) return score - 10000;
    if (exact) return score + 10000;
    if (/^u\d\d_/.test(page)) return score + 1000;
    return /^api\//.test(page) ? score : score + 500;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

/* Quotes need the pages, which a browser does not fetch for a page that is opened as a file. */
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined")
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

/* What is quoted is the article, without the theme's buttons and without notes in the margin. */
document.addEventListener("DOMContentLoaded", () => {
  if (typeof Search === "undefined") return;
  Search.htmlToText = (text, anchor) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    const unsaid = ".headerlink, script, style, svg, nav, .note, .prev-next-footer";
    page.querySelectorAll(unsaid).forEach((element) => element.remove());
    const article = page.querySelector("article.bd-article") ?? page.querySelector("main");
    const part = anchor && article?.querySelector(anchor);
    return (part || article)?.textContent ?? "";
  };
});

/* Beside each title: what kind of page it is, where the title does not say so. */
const KINDS = [[/^ops\//, "op"], [/^passes\//, "pass"], [/^api\//, "library"], [/^glossary/, "term"],
  [/^(units\/|instructors|authoring)/, "for teachers"]];
document.addEventListener("DOMContentLoaded", () => {
  const found = document.getElementById("search-results");
  if (!found) return;
  const label = (link) => {
    const kind = KINDS.find(([page]) => page.test(link.getAttribute("href")));
    if (!kind || link.nextElementSibling?.matches("span")) return;
    const said = document.createElement("span");
    said.className = "found-in";
    said.textContent = kind[1];
    link.after(said);
  };
  new MutationObserver(() => found.querySelectorAll("li > a").forEach(label))
    .observe(found, { childList: true, subtree: true });
});
