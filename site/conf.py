"""Sphinx configuration of the website. `site/build.py` writes the sources and calls Sphinx.

Everything is local: formulas become MathML, which browsers draw themselves, and no page fetches
anything from elsewhere.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

# Sphinx keeps every page in memory: looking through all of it for cycles as often as Python does
# by itself takes a fifth of the time.
gc.set_threshold(200_000, 50, 1_000)

project = "Machine-learning compilers"
author = "the authors of the course"
copyright = "the authors; text CC BY 4.0, code BSD-3-Clause"
extensions = ["myst_nb", "mathml", "sphinx_copybutton", "slim", "reference.links"]
root_doc = "index"
exclude_patterns = ["conf.py", "_extra", "jupyter_execute", "reference"]
python_use_unqualified_type_names = True
add_module_names = False  # each module has a heading of its own

nb_execution_mode = "off"  # site/build.py has run them
nb_merge_streams = True
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
copybutton_selector = "div.highlight pre"  # code and listings, not what a cell printed
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
smartquotes = False  # hints and sentences quote programs
# Exercises are headings of the fourth level wherever they stand.
suppress_warnings = ["myst.header"]

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["_static"]
html_extra_path = ["_extra"]  # the notebooks to download
html_css_files = [
    "course.css",
    "reference.css",
    "reader.css",
    "landing.css",
    ("print.css", {"media": "print"}),
]
html_js_files = [("reader.js", {"defer": "defer"}), "map.js"]
html_favicon = "_static/favicon.svg"
# In what is found, learners' pages stand first and teachers' last.
html_search_scorer = str(Path(__file__).with_name("_static") / "search.js")
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
# There are hundreds of these; a sidebar with all sections of all units would be most of each.
lookup = ["navbar-logo.html", "search-button-field.html", "lookup.html"]
html_sidebars = {f"{folder}/*": lookup for folder in ("ops", "passes", "api")}
templates_path = ["reference/templates"]
html_theme_options = {
    "navbar_persistent": [],  # the theme would show a second search box
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_toc_level": 2,
}
