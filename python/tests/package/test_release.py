# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""tools/release, in a small repository of its own."""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import cuprum

ROOT = Path(__file__).resolve().parents[3]
COPIES = ["CITATION.cff", "packaging/conda/recipe.yaml", "packaging/vcpkg/cuprum/vcpkg.json"]
CHANGELOG = """# Changelog

## 0.2.0 (unreleased)

- Something new.

## 0.1.0 (2026-12-01)

- The first version.
"""


@pytest.fixture
def repository(tmp_path):
    """A repository with the files that have the version, committed, at version 0.1.0."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    for name in ["core/include/cuprum/version.hpp", "tools/release", *COPIES]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / ".gitignore").write_text("/build/\n/wheels/\n")
    git(tmp_path, "init", "--quiet")
    # Make it 0.1.0 whatever this version is.
    assert release(tmp_path, "version", "0.1.0").returncode == 0
    commit(tmp_path)
    return tmp_path


def git(folder, *arguments):
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.invalid"]
    options = ["-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
    return subprocess.run(
        ["git", *identity, *options, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def commit(folder):
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Change")


def release(folder, *arguments):
    variables = {
        "PATH": os.environ["PATH"],
        "GIT_COMMITTER_NAME": "test",
        "GIT_COMMITTER_EMAIL": "test@example.invalid",
    }
    return subprocess.run(
        [sys.executable, folder / "tools/release", *arguments],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def make_wheel(folder, name, version):
    folder.mkdir(exist_ok=True)
    module = name.replace("-", "_")
    wheel = folder / f"{module}-{version}-py3-none-manylinux_2_28_x86_64.whl"
    bill = {
        "metadata": {"component": {"bom-ref": f"{name}@{version}", "name": name}},
        "components": [{"bom-ref": "zstd@1.5", "name": "zstd"}] if "emulator" in name else [],
        "dependencies": [{"ref": f"{name}@{version}", "dependsOn": []}],
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{module}-{version}.dist-info/sboms/{name}.cdx.json", json.dumps(bill))
    return wheel


def test_all_files_of_this_repository_have_the_version_of_the_library():
    for name in COPIES:
        assert cuprum.__version__ in (ROOT / name).read_text(), name
    assert f"## {cuprum.__version__} (" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    ("name", "line", "complete"),
    [
        (
            "tools/build-deb",
            "Maintainer: The Cuprum Authors <cuprum@example.invalid>",
            "Maintainer: The Cuprum Authors <cuprum@example.org>",
        ),
        ("README.md", "git clone <URL of this repository> cuprum", "git clone https://a.b/c"),
        ("CONTRIBUTING.md", "git clone <URL of this repository> cuprum", "git clone https://a.b/c"),
        ("docs/install.md", "(cuprum GIT_REPOSITORY <URL> GIT_TAG", "GIT_REPOSITORY https://a.b/c"),
        (
            "packaging/container/Containerfile",
            "FROM docker.io/library/debian:12-slim",
            f"FROM docker.io/library/debian:12-slim@sha256:{'0a' * 32}",
        ),
    ],
)
def test_a_placeholder_stops_a_release(repository, name, line, complete):
    file = repository / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"first line\n{line}\n")
    commit(repository)
    for command in (["check"], ["tag"], ["artefacts", "--wheels", "wheels"]):
        result = release(repository, *command)
        assert result.returncode == 1
        assert f"{name}:2 has the placeholder" in result.stderr
    assert git(repository, "tag") == ""
    file.write_text(f"{complete}\n")
    commit(repository)
    assert release(repository, "check").returncode == 0


@pytest.mark.parametrize(
    "text",
    ["It is not released\nyet.", "Not on PyPI yet.", "Once version 0.1.0 is on PyPI, use it."],
)
def test_a_document_that_says_there_is_no_release_stops_it(repository, text):
    page = repository / "docs/install.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(f"# Install\n\n{text}\n")
    commit(repository)
    result = release(repository, "check")
    assert result.returncode == 1
    assert "docs/install.md:3 says '" in result.stderr
    page.write_text("# Install\n\nIt comes from PyPI.\n")
    commit(repository)
    assert release(repository, "check").returncode == 0


# What each file has once the publisher has completed it.
COMPLETE = {
    "tools/build-deb": r"^Maintainer: .+<(?!.*example\.).+@.+>$",
    "docs/install.md": r"GIT_REPOSITORY https://",
    "CONTRIBUTING.md": r"git clone https://",
    "README.md": r"git clone https://",
    "packaging/container/Containerfile": r"^FROM .+@sha256:[0-9a-f]{64}$",
}


def test_every_place_for_the_publisher_has_a_placeholder_or_is_complete():
    loader = importlib.machinery.SourceFileLoader("release", str(ROOT / "tools/release"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", loader))
    loader.exec_module(module)
    assert set(module.PLACEHOLDERS) == set(COMPLETE)
    for name, (pattern, _) in module.PLACEHOLDERS.items():
        text = (ROOT / name).read_text()
        is_open = re.search(pattern, text, re.MULTILINE) is not None
        is_complete = re.search(COMPLETE[name], text, re.MULTILINE) is not None
        assert is_open != is_complete, name


def test_version_is_set_everywhere_and_the_changelog_gets_a_date(repository):
    result = release(repository, "version", "0.2.0", "--date", "2027-01-31")
    assert result.returncode == 0, result.stderr
    header = (repository / "core/include/cuprum/version.hpp").read_text()
    assert "CUPRUM_VERSION_MINOR 2\n" in header
    assert "CUPRUM_VERSION_PATCH 0\n" in header
    for name in COPIES:
        assert "0.2.0" in (repository / name).read_text(), name
    assert "## 0.2.0 (2027-01-31)\n" in (repository / "CHANGELOG.md").read_text()
    commit(repository)
    assert release(repository, "check").stdout == "[release] 0.2.0 can be released\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["0.2"], "the version is '0.2', expected three numbers"),
        (["v0.2.0"], "the version is 'v0.2.0', expected three numbers"),
        (["0.2.0", "--date", "tomorrow"], "the date is 'tomorrow', expected"),
        (["0.3.0"], "CHANGELOG.md has no heading '## 0.3.0 (unreleased)'"),
    ],
)
def test_a_wrong_version_changes_nothing(repository, arguments, text):
    result = release(repository, "version", *arguments)
    assert result.returncode == 1
    assert text in result.stderr
    assert git(repository, "status", "--porcelain") == ""


def test_dry_run_changes_nothing(repository):
    result = release(repository, "--dry-run", "version", "0.2.0")
    assert result.returncode == 0, result.stderr
    assert "would change core/include/cuprum/version.hpp" in result.stdout
    result = release(repository, "--dry-run", "tag")
    assert result.returncode == 0, result.stderr
    assert " as v0.1.0" in result.stdout
    assert git(repository, "tag") == ""
    assert git(repository, "status", "--porcelain") == ""


def test_a_copy_with_another_version_is_an_error(repository):
    path = repository / "CITATION.cff"
    path.write_text(path.read_text().replace("0.1.0", "0.0.9"))
    commit(repository)
    result = release(repository, "check")
    assert result.returncode == 1
    assert "CITATION.cff has the version 0.0.9" in result.stderr
    assert "\ntools/release version 0.1.0 sets the version in all files\n" in result.stderr


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("(2026-12-01)", "(unreleased)", "has 'unreleased' where 0.1.0 needs its date"),
        ("- The first version.\n", "", "says nothing about 0.1.0"),
        ("## 0.1.0", "## 0.1.1", "has no section '## 0.1.0 (date)'"),
    ],
)
def test_the_changelog_must_describe_the_version(repository, old, new, text):
    path = repository / "CHANGELOG.md"
    path.write_text(path.read_text().replace(old, new))
    commit(repository)
    result = release(repository, "tag")
    assert result.returncode == 1
    assert text in result.stderr
    assert git(repository, "tag") == ""


def test_changes_that_are_not_committed_are_an_error(repository):
    (repository / "new.txt").write_text("")
    result = release(repository, "tag")
    assert result.returncode == 1
    assert "files are not committed:\n?? new.txt" in result.stderr
    assert "tools/release version" not in result.stderr, "no version is wrong"


def test_a_tag_is_made_once(repository):
    result = release(repository, "tag")
    assert result.returncode == 0, result.stderr
    assert git(repository, "tag") == "v0.1.0\n"
    assert git(repository, "cat-file", "-t", "v0.1.0") == "tag\n"
    result = release(repository, "tag")
    assert result.returncode == 1
    assert "the tag v0.1.0 exists" in result.stderr


def test_a_tag_is_not_pushed(repository, tmp_path_factory):
    remote = tmp_path_factory.mktemp("remote")
    git(remote, "init", "--quiet", "--bare")
    git(repository, "remote", "add", "origin", str(remote))
    result = release(repository, "tag")
    assert result.returncode == 0, result.stderr
    assert "to publish it: git push origin v0.1.0" in result.stdout
    assert git(remote, "for-each-ref") == ""


def test_artefacts_need_the_tag_of_the_version(repository):
    make_wheel(repository / "wheels", "libcuprum", "0.1.0")
    git(repository, "tag", "v0.2.0")
    result = release(repository, "artefacts", "--wheels", repository / "wheels")
    assert result.returncode == 1
    assert "the current commit has no tag v0.1.0" in result.stderr


def test_artefacts_are_wheels_for_other_machines(repository):
    wheel = make_wheel(repository / "wheels", "libcuprum", "0.1.0")
    wheel.rename(wheel.with_name("libcuprum-0.1.0-py3-none-linux_x86_64.whl"))
    git(repository, "tag", "v0.1.0")
    result = release(repository, "artefacts", "--wheels", repository / "wheels")
    assert result.returncode == 1
    assert "wheels of this machine alone: libcuprum-0.1.0-py3-none-linux" in result.stderr


def test_every_wheel_needs_a_bill_of_materials(repository):
    wheels = repository / "wheels"
    make_wheel(wheels, "libcuprum", "0.1.0")
    make_wheel(wheels, "cuprum-emulator", "0.1.0")
    with zipfile.ZipFile(make_wheel(wheels, "cuprum", "0.1.0"), "w") as archive:
        archive.writestr("cuprum/__init__.py", "")
    for folder in ("packaging/libcuprum", "packaging/cuprum-emulator", "."):
        (repository / folder).mkdir(parents=True, exist_ok=True)
        (repository / folder / "pyproject.toml").write_text('build-backend = "backend_of"\n')
        (repository / folder / "backend_of.py").write_text("def build_sdist(folder): pass\n")
    commit(repository)
    git(repository, "tag", "v0.1.0")
    result = release(repository, "artefacts", "--wheels", wheels)
    assert result.returncode == 1
    assert "no wheel of cuprum has a bill of materials" in result.stderr


def test_artefacts_need_a_wheel_of_each_package(repository):
    wheels = repository / "wheels"
    git(repository, "tag", "v0.1.0")
    make_wheel(wheels, "libcuprum", "0.1.0")
    make_wheel(wheels, "cuprum-emulator", "0.1.0")
    make_wheel(wheels, "cuprum", "0.0.9")
    result = release(repository, "artefacts", "--wheels", wheels)
    assert result.returncode == 1
    assert f"{wheels} has no wheel of cuprum 0.1.0" in result.stderr


def test_artefacts_have_checksums_and_a_bill_of_materials(repository):
    wheels = repository / "wheels"
    names = ["libcuprum", "cuprum-emulator", "cuprum"]
    for name in names:
        make_wheel(wheels, name, "0.1.0")
    # Source archives come from the build backends. These only show where they were called.
    backend = (
        "import pathlib\n"
        "def build_sdist(folder):\n"
        "    pathlib.Path(folder, f'{NAME}-0.1.0.tar.gz').write_text(NAME)\n"
    )
    for name, folder in zip(
        names, ["packaging/libcuprum", "packaging/cuprum-emulator", "."], strict=True
    ):
        place = repository / folder
        place.mkdir(parents=True, exist_ok=True)
        (place / "pyproject.toml").write_text('[build-system]\nbuild-backend = "backend_of"\n')
        module = name.replace("-", "_")
        (place / "backend_of.py").write_text(f"NAME = {module!r}\n{backend}")
    commit(repository)
    git(repository, "tag", "v0.1.0")

    dry = release(repository, "--dry-run", "artefacts", "--wheels", wheels)
    assert dry.returncode == 0, dry.stderr
    assert "would make cuprum_emulator-0.1.0.tar.gz" in dry.stdout
    assert not (repository / "build").exists()

    result = release(repository, "artefacts", "--wheels", wheels)
    assert result.returncode == 0, result.stderr
    files = repository / "build/release/files"
    lines = dict(
        reversed(line.split("  ")) for line in (files / "SHA256SUMS").read_text().splitlines()
    )
    assert set(lines) == {path.name for path in files.iterdir()} - {"SHA256SUMS"}
    assert len(lines) == 7  # three wheels, three source archives, the bill of materials
    for name, digest in lines.items():
        assert hashlib.sha256((files / name).read_bytes()).hexdigest() == digest
    bill = json.loads((files / "cuprum-0.1.0.cdx.json").read_text())
    assert [part["bom-ref"] for part in bill["components"]] == [
        "cuprum-emulator@0.1.0",
        "cuprum@0.1.0",
        "libcuprum@0.1.0",
        "zstd@1.5",
    ]
    notes = (repository / "build/release/notes.md").read_text()
    assert notes == "- The first version.\n"
