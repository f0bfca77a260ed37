# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The files around the code: workflows, policies, packages."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

pytestmark = pytest.mark.skipif(
    not WORKFLOWS, reason="a source distribution of the Python package has no workflows"
)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_targets_that_exist(workflow):
    text = workflow.read_text()
    called = set(re.findall(r"run: make ([a-z][a-z-]*)", text))
    for names in re.findall(r"target: \[(.*)\]", text):
        called |= set(names.split(", "))
    assert called or "uses: ./.github/workflows/" in text
    assert called <= TARGETS


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_of_others_are_pinned_to_a_commit(workflow):
    text = workflow.read_text()
    for action in re.findall(r"uses: (\S+(?: #.*)?)", text):
        if not action.startswith("./"):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", action), action
    # No job gets a token that may write unless it asks for it.
    assert re.search(r"^permissions:\n  contents: read$", text, re.MULTILINE)


def test_code_of_pull_requests_never_runs_on_our_own_machine():
    for workflow in WORKFLOWS:
        text = workflow.read_text()
        if "self-hosted" in text:
            assert "pull_request" not in text, workflow.name


def test_every_target_of_the_makefile_is_phony_and_described():
    text = (ROOT / "Makefile").read_text()
    phony = {
        name for line in re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE) for name in line.split()
    }
    assert phony == TARGETS
    for name in TARGETS:
        assert re.search(rf"^{name}:.*## \w", text, re.MULTILINE), name


def test_the_page_of_tests_lists_every_fuzzer():
    [fuzzers] = re.findall(r"^FUZZERS=\((.*)\)$", (ROOT / "tools/fuzz").read_text(), re.MULTILINE)
    sources = {
        path.stem.removeprefix("fuzz_")
        for part in ("core", "emulator")
        for path in (ROOT / part / "tests/fuzz").glob("fuzz_*.cpp")
    }
    page = (ROOT / "docs/testing.md").read_text().split("## Fuzzers")[1].split("\nThen ")[0]
    assert set(fuzzers.split()) == sources == set(re.findall(r"^\| `(\w+)` ", page, re.MULTILINE))


def test_make_install_asks_for_a_folder():
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    command = ["make", "--no-print-directory", "install", "PREFIX="]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "make install PREFIX=$HOME/cuprum" in done.stderr


def test_wheels_are_built_for_every_python_that_the_metadata_allows():
    text = (ROOT / "pyproject.toml").read_text()
    assert 'requires-python = ">=3.10"' in text
    built = re.search(r'^build = "(.*)"$', text.split("[tool.cibuildwheel]")[1], re.MULTILINE)
    assert built
    assert built[1].split() == [f"cp{version}-*" for version in (310, 311, 312, 313, 314, "314t")]


def test_notice_names_every_licence_that_packages_contain():
    notice = (ROOT / "NOTICE").read_text()
    for path in (ROOT / "licenses").glob("*.txt"):
        assert path.stem.replace("_", "-") in notice, path.name


def test_the_vcpkg_port_has_the_files_that_vcpkg_reads():
    port = ROOT / "packaging/vcpkg/cuprum"
    manifest = json.loads((port / "vcpkg.json").read_text())
    assert manifest["name"] == port.name
    assert "vcpkg_cmake_install()" in (port / "portfile.cmake").read_text()


def test_the_container_takes_the_wheels_from_where_they_are_built():
    text = (ROOT / "packaging/container/Containerfile").read_text()
    (folder,) = re.findall(r"^COPY (\S+)/\*\.whl", text, re.MULTILINE)
    assert f"OUT={folder}\n" in (ROOT / "tools/build-wheels").read_text()
