"""What every picture is made of: colours, SVG, frames, signs, and text beside text.

    tag("rect", x=1, width=2.50, klass="cl-n")  ->  Picture  ->  a notebook, a page, a terminal

Next room: `style.py`.
"""
