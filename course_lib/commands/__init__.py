"""The commands of `python -m course_lib`: each file of this folder is one, with the same name.

    ops.py    HELP = "the op table as documentation"      its line in `python -m course_lib --help`
              def arguments(sub): ...                     the options that it takes
              def ops(options) -> Result: ...             what it does

A new command is a new file; `infra/room.py` finds it. A file is imported when its command is asked
for, or for `--help`. Next room: `infra/room.py`.
"""
