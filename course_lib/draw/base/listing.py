"""Text as a picture: loops, LLVM IR and assembly, in the frame that drawings have.

    listing("loops", program_text)   ->   the text in a frame, with a title

Next room: `legend.py`.
"""

from __future__ import annotations

from course_lib.draw.base.picture import Picture, fragment, scrolling
from course_lib.draw.base.svg import escape, tag


def listing(title: str, text: str) -> Picture:
    """A titled block of text that scrolls when it is long."""
    block = scrolling(title, tag("pre", escape(text)))
    return Picture(title, fragment(tag("div", escape(title), klass="cl-title"), block), text)
