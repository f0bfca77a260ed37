# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""tools/third-party --programs: how programs are found and run, without a network."""

import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[3] / "tools"
if not (TOOLS / "third-party").is_file():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)
sys.path.insert(0, str(TOOLS))

from third_party import programs, report  # noqa: E402

SECTION = """
## Other

```sh
make demo
```

### Our library

```sh
pip install ours
python ours.py {promise}
```

```py
print("first")
print("{output}")
```
"""


def test_the_page_has_a_program_for_each_library():
    if not report.PAGE.is_file():
        pytest.skip("the documentation is not beside the tests")
    found = {each.title: each for each in programs.find()}
    libraries = {"Numba", "cuda.core", "cuda.bindings", "PyCUDA", "Triton"}
    assert libraries | {"nvcc and Thrust", "CUB", "libcu++"} <= set(found)
    assert found["nvcc and Thrust"].expected == "999 ... 0"
    assert all(each.install and each.commands for each in found.values())


@pytest.fixture
def without_network(monkeypatch):
    """Replace environments by one with this interpreter, and a pip that installs one package."""

    def make(folder):
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").symlink_to(sys.executable)
        pip = folder / "bin" / "pip"
        pip.write_text('#!/bin/sh\n[ "$2" = ours ] || { echo "no package $2"; exit 1; }\n')
        pip.chmod(0o755)

    monkeypatch.setattr(programs, "_make_environment", make)


@pytest.mark.usefixtures("without_network")
@pytest.mark.parametrize(
    ("promise", "output", "problem"),
    [
        ("", "True", ""),
        ("# 42", "42", ""),
        ("", "False", "status 0, expected 'True': False"),
        ("# 42", "True", "status 0, expected '42': True"),
    ],
)
def test_the_last_line_decides(tmp_path, promise, output, problem):
    page = tmp_path / "page.md"
    page.write_text(SECTION.format(promise=promise, output=output))
    (program,) = programs.find(page)
    assert (program.title, program.file) == ("Our library", "ours.py")
    assert programs.run(program, tmp_path / "work", tmp_path) == problem


@pytest.mark.usefixtures("without_network")
def test_an_installation_that_fails_says_why(tmp_path):
    program = programs.ShortProgram("Broken", ["pip install other"], [], "x.py", "", "True")
    assert programs.run(program, tmp_path, tmp_path) == "pip install other: no package other"
