"""Which commands there are, and the options of each: found, not listed.

    names()         ->  ["asm", "fma", "look", ...]     the files of the folder above
    parser("ops")   ->  of `ops` alone: no other command's file is imported
    parser()        ->  of all commands, for `--help`

Next room: `task.py`.
"""

from __future__ import annotations

import pkgutil
from argparse import ArgumentParser
from importlib import import_module
from types import ModuleType

from course_lib import __version__, commands


def names() -> list[str]:
    """Every file of the room is a command; what several of them need stands in `infra/`."""
    return [module.name for module in pkgutil.iter_modules(commands.__path__) if not module.ispkg]


def load(name: str) -> ModuleType:
    """The file of a command: its `HELP`, its `arguments`, and a function of its name."""
    return import_module(f"{commands.__name__}.{name}")


def parser(asked: str | None = None) -> ArgumentParser:
    """The parser of the command that is asked for; of all of them, if there is no such command."""
    top = ArgumentParser(prog="python -m course_lib", description="The course's compiler.")
    top.add_argument("--version", action="version", version=__version__)
    subs = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    every = names()
    for name in [asked] if asked in every else every:
        command = load(name)
        sub = subs.add_parser(name, help=command.HELP)
        command.arguments(sub)
        getattr(command, "json_option", json_option)(sub)
    return top


def json_option(sub: ArgumentParser) -> None:
    """What each command takes that has no function of this name."""
    sub.add_argument("--json", action="store_true", help="one JSON object on the last line")
