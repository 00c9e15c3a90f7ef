"""Pictures of everything the course looks at, in one visual language.

Every function returns a `Picture`: it draws itself in a notebook and on the website, prints itself
in a terminal, and saves itself as .svg, .html or .txt.

    from course_lib.draw.graph import graph, before_after
"""
