"""One palette and one style sheet for pictures, feedback and the website.

    contrast("#1b1f24", "#ffffff")  ->  16.5        readable text needs 4.5 (WCAG 2, level AA)

Shape says what a thing is; colour says what changed or how hot it is. The hues are those of Okabe
and Ito, told apart by colour-blind eyes, and colour never stands alone: what is removed is also
dashed and marked −, what is added is thick and marked +.

A picture is light or dark as its page is: JupyterLab and the website say so on an element of
theirs, and everywhere else the browser does. Next room: `units.py`.
"""

from __future__ import annotations

MONO = 'ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace'
SANS = 'system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif'

# name: (light, dark). `x-text` is the same hue, dark or light enough to be read on the page.
PALETTE: dict[str, tuple[str, str]] = {
    "page": ("#ffffff", "#15181c"),
    "text": ("#1b1f24", "#e6e8eb"),
    "muted": ("#57606a", "#a4adb6"),
    "line": ("#6e7781", "#858f99"),
    "faint": ("#d0d7de", "#3b424a"),
    "node": ("#f2f4f6", "#252b32"),
    "region": ("#e7eef6", "#1b2733"),
    "added": ("#d5f2e7", "#0f3a2d"),
    "added-text": ("#006b50", "#4fd1a5"),
    "removed": ("#fce4d8", "#4a2413"),
    "removed-text": ("#a84300", "#ff9c66"),
    "marked": ("#f7e2ee", "#43213a"),
    "marked-text": ("#96336f", "#eb9fcb"),
    "focus": ("#0062a3", "#6cb8ea"),
    "heat0": ("#fff8ee", "#2a231b"),
    "heat1": ("#fde9cb", "#412d17"),
    "heat2": ("#fbd59d", "#5a3a12"),
    "heat3": ("#f7bb66", "#74480c"),
    "heat4": ("#f09f33", "#8a5407"),
}
HEAT_STEPS = 5

# Text that stands on a fill, for the test that measures every pair.
TEXT_ON = [
    *(("text", f) for f in ("page", "node", "region", "added", "removed", "marked")),
    *(("text", f"heat{k}") for k in range(HEAT_STEPS)),
    *(("muted", f) for f in ("page", "node", "region", "added", "removed", "marked")),
    *((f"{f}-text", g) for f in ("added", "removed", "marked") for g in ("page", f)),
    ("focus", "page"),
]

_LIGHT_PAGE = "[data-jp-theme-light=true] .cl,html[data-theme=light] .cl"
_DARK_PAGE = "[data-jp-theme-light=false] .cl,html[data-theme=dark] .cl"


def _variables(mode: int) -> str:
    return "".join(f"--cl-{name}:{colours[mode]};" for name, colours in PALETTE.items())


def _theme() -> str:
    """The variables. Unless the page says what it is, a picture brings its own background."""
    own = "color:var(--cl-text);background:var(--cl-page)"
    hosted = f"{_LIGHT_PAGE},{_DARK_PAGE},.cl .cl{{color:inherit;background:none}}"
    return (
        f".cl{{{_variables(0)}{own}}}"
        f"@media(prefers-color-scheme:dark){{.cl{{{_variables(1)}}}}}"
        f"{_LIGHT_PAGE}{{{_variables(0)}}}{_DARK_PAGE}{{{_variables(1)}}}{hosted}"
    )


BASE = _theme()

SVG = (
    f".cl text{{font:11px {MONO};fill:currentColor}}"
    f".cl .cl-h{{font:600 14px {SANS}}}.cl .cl-c{{font:12px {SANS}}}.cl .cl-l{{font:10.5px {SANS}}}"
    ".cl .cl-s{font-size:9.5px}.cl .cl-b{font-weight:600}.cl .cl-m{fill:var(--cl-muted)}"
    ".cl .cl-e{text-anchor:end}.cl .cl-mid{text-anchor:middle}"
    ".cl .cl-n{fill:var(--cl-node);stroke:var(--cl-line)}"
    ".cl .cl-edge{fill:none;stroke:var(--cl-line)}.cl .cl-tip{fill:var(--cl-line)}"
    ".cl .cl-tabs path{fill:none;stroke:var(--cl-line)}"
    ".cl .cl-p{font-size:10px}"
    ".cl .cl-stall,.cl .cl-unused{fill:var(--cl-page);stroke:var(--cl-line);"
    "stroke-dasharray:3 3}.cl .cl-bound{fill:none;stroke:currentColor;stroke-width:1.6}"
    ".cl .cl-dot{fill:var(--cl-focus);stroke:var(--cl-page);stroke-width:1.5}"
    ".cl .cl-grid{fill:none;stroke:var(--cl-faint)}.cl .cl-axis{fill:none;stroke:currentColor}"
    ".cl .cl-region{fill:var(--cl-region)}.cl .cl-rim{fill:var(--cl-line)}"
    ".cl .cl-region.cl-band,.cl .cl-rim.cl-band{fill:none;stroke-linejoin:round}"
    ".cl .cl-region.cl-band{stroke:var(--cl-region)}.cl .cl-rim.cl-band{stroke:var(--cl-line)}"
    + "".join(
        f".cl .cl-{s}{{fill:var(--cl-{s});stroke:var(--cl-{s}-text);stroke-width:1.6}}"
        f".cl .cl-rim-{s}{{fill:var(--cl-{s}-text)}}"
        f".cl .cl-rim-{s}.cl-band{{fill:none;stroke:var(--cl-{s}-text)}}"
        f".cl .cl-t-{s}{{fill:var(--cl-{s}-text);font-weight:700}}"
        for s in ("added", "removed", "marked")
    )
    + ".cl .cl-removed{stroke-dasharray:4 2.5}.cl .cl-marked{stroke-width:2.6}"
    + "".join(f".cl .cl-heat{k}{{fill:var(--cl-heat{k})}}" for k in range(HEAT_STEPS))
    + ".cl .cl-hot .cl-m{fill:currentColor}"
)

HTML = (
    ".cl-fig{margin:.6em 0;padding:0;max-width:100%}"
    ".cl-scroll{overflow:auto;max-height:44rem}.cl-scroll svg{display:block;max-width:none}"
    ".cl-fig .cl-scroll pre{overflow:visible}"  # JupyterLab's would scroll, and take no key
    ".cl-drawing{margin-left:-12px}"  # a drawing has a margin of its own; its words align
    # In a narrow column it gets smaller, down to three quarters of its size; then it scrolls.
    ".cl-drawing>svg{max-width:max(100%,calc(.75*var(--cl-width)));height:auto}"
    ".cl-plot>svg{max-width:100%;min-width:22rem;height:auto}"
    f".cl-fig,.cl-fig table{{font:13px/1.45 {SANS}}}"
    f".cl-fig pre,.cl-fig code{{font:12px/1.5 {MONO};color:inherit;background:none;"
    "border:0;padding:0;margin:0;white-space:pre}"
    ".cl-title{font-weight:600;font-size:14px;margin:0 0 .4em}.cl-muted{color:var(--cl-muted)}"
    ".cl-fig details{margin:.3em 0}.cl-fig summary{color:var(--cl-muted);cursor:pointer}"
    ".cl-fig :focus-visible{outline:2px solid var(--cl-focus);outline-offset:2px}"
)


def contrast(a: str, b: str) -> float:
    """The contrast ratio of two colours `#rrggbb`, from 1 to 21 (WCAG 2.2, section 1.4.3)."""
    lighter, darker = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
