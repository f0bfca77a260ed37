# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The tests that `docs/emulator/ci.md` shows find the mistake that it describes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cuprum

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from documentation_examples import blocks  # noqa: E402


@pytest.fixture
def run_page(tmp_path):
    """Run the tests of the page; return what pytest printed."""
    if not cuprum.Device(0).is_emulated:
        pytest.skip("the checks are the emulated device's")
    page = ROOT / "docs" / "emulator" / "ci.md"
    fixtures, tests = (each.text for each in blocks(page) if each.language == "python")
    (tmp_path / "conftest.py").write_text(fixtures)

    def run(replaced="", by=""):
        assert replaced in tests
        (tmp_path / "test_scale.py").write_text(tests.replace(replaced, by))
        path = os.pathsep.join(filter(None, sys.path))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--tb=short"],
            cwd=tmp_path,
            env={
                **os.environ,
                "CUPRUM_DRIVER": "emulated",
                "CUPRUM_EMULATOR_CHECK": "all",
                "PYTHONPATH": path,
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.stdout + done.stderr

    return run


def outcomes(text):
    """Return the word of each test, by its size."""
    found = re.findall(r"^(PASSED|FAILED) .*element\[(\d+)\]", text, flags=re.MULTILINE)
    return {int(size): word for word, size in found}


def test_the_tests_pass_without_a_word_about_the_device(run_page):
    text = run_page()
    assert outcomes(text) == dict.fromkeys((1, 255, 256, 257), "PASSED"), text
    assert "no GPU can be used" not in text


def test_a_wrong_bound_fails_where_it_matters_and_later_tests_run(run_page):
    text = run_page("i < n", "i <= n")
    assert outcomes(text) == {1: "FAILED", 255: "FAILED", 256: "PASSED", 257: "FAILED"}, text
    for part in (r"scale\.cu:4\b", r"thread \(1, 0, 0\)", "of 4 bytes", r"test_scale\.py:\d+"):
        assert re.search(part, text), (part, text)
