"""Text as a picture: loops, LLVM IR and assembly, in the frame that drawings have.

    listing("loops", program_text)   ->   the text in a frame, with a title

Next room: `legend.py`.
"""

from __future__ import annotations

from course_lib.draw.base.picture import Picture, fragment
from course_lib.draw.base.svg import OWN_KEYS, escape, tag


def listing(title: str, text: str) -> Picture:
    """A titled block of text that scrolls when it is long."""
    block = tag(
        "div",
        tag("pre", escape(text)),
        klass="cl-scroll",
        tabindex=0,
        role="region",
        aria_label=f"{title} (scrolls)",
        **OWN_KEYS,
    )
    return Picture(title, fragment(tag("div", escape(title), klass="cl-title"), block), text)
