# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What the documents show must run, and what they name must exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code_blocks(language):
    for page in PAGES:
        for number, match in enumerate(FENCE.finditer(page.read_text()), start=1):
            if match.group(1) == language:
                yield pytest.param(
                    page, match.group(2), id=f"{page.relative_to(ROOT)}-{number}".replace("/", "-")
                )


@pytest.mark.parametrize(("page", "code"), list(code_blocks("python")))
def test_python_in_the_documents_runs(page, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("numpy")
    exec(compile(code, str(page), "exec"), {"__name__": "__main__"})


def test_the_readme_shows_the_tested_example():
    shown = next(
        match.group(2)
        for match in FENCE.finditer((ROOT / "README.md").read_text())
        if match.group(1) == "cpp"
    )
    source = (ROOT / "examples/cpp/05_readme.cpp").read_text()
    assert shown.strip() == source.split("\n\n", 1)[1].strip()


def test_the_readme_has_no_unfilled_place():
    assert re.search(r"@[A-Z_]+@", (ROOT / "README.md").read_text()) is None


def test_paths_in_the_architecture_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    # `core/src/driver/table.hpp`, not `core/tests/test_<object>.cpp` or `api -> objects`
    named = re.findall(
        r"`((?:core|python|emulator|docs|tools|examples|benchmarks|cmake)/[\w./]*)`", text
    )
    assert named
    missing = [path for path in named if not (ROOT / path).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_documents_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_page_of_what_the_emulator_supports_is_up_to_date():
    result = subprocess.run(
        [sys.executable, ROOT / "tools/emulator-support", "--check"], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
