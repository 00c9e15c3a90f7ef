"""What a wheel and a source archive hold: the compiler, and of the autograder what students have.

    pip wheel . --no-deps     before: hidden checks, wrong answers, solutions   after: none of them

`autograder/edition/shipped.py` says which files these are, as it does for a students' edition; the
solutions in them are taken out in the same way, too (`without_answers`). An editable install, which
`make` uses, is this folder itself, whole. All else about the package stands in pyproject.toml.
"""

import os
import runpy
import shutil
from pathlib import Path, PurePath

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

# Run as files: importing `autograder` needs numpy, which is not there while a package is built.
EDITION = Path(__file__).resolve().parent / "autograder" / "edition"
ships_to_students = runpy.run_path(str(EDITION / "shipped.py"))["ships"]
without_answers = runpy.run_path(str(EDITION / "solutions.py"))["without_answers"]


def ships(path: str) -> bool:
    """Is this file of a package in the wheel? (A path of build_py: from here, relative.)"""
    parts = PurePath(path).parts
    return parts[0] != "autograder" or ships_to_students(PurePath(*parts[1:]))


class BuildPackages(build_py):
    """Copies what ships, without the solutions."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)  # an earlier build may have had more
        super().run()

    def find_package_modules(self, package, package_dir):
        return [one for one in super().find_package_modules(package, package_dir) if ships(one[2])]

    def find_data_files(self, package, src_dir):
        return [one for one in super().find_data_files(package, src_dir) if ships(one)]

    def build_module(self, module, module_file, package):
        made = super().build_module(module, module_file, package)
        take_solutions_out(module_file, made[0])
        return made


class SourceArchive(sdist):
    """The same files, from which the same wheel can be built."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for file in files:
            take_solutions_out(file, os.path.join(base_dir, file))


def take_solutions_out(source: str, made: str) -> None:
    """Rewrite the copy of a unit's file. (The library keeps its own: there it is the compiler.)"""
    if PurePath(source).parts[:2] == ("autograder", "units") and source.endswith(".py"):
        text = Path(source).read_text(encoding="utf-8")
        Path(made).unlink()  # it may be a hard link to the source
        Path(made).write_text(without_answers(text, 0), encoding="utf-8")


setup(cmdclass={"build_py": BuildPackages, "sdist": SourceArchive})
