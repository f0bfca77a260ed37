# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What the drop-in refuses, in one sentence, without replacing anything."""

import subprocess
import sys
import textwrap

import pytest

# Tries to install the drop-in, prints why that is refused, and checks that nothing has changed.
REFUSED = """
        import cuprum.drop_in
        before = list(sys.path), list(sys.meta_path)
        try:
            cuprum.drop_in.install()
        except RuntimeError as error:
            print(error)
        assert cuprum.Device.__module__ == "cuprum._cuprum"
        assert before == (sys.path, sys.meta_path)
        assert type(sys.modules.get("cuda.core")).__name__ != "CoreModule"
"""


def run(code, *paths):
    prefix = f"import sys; sys.path[:0] = {[*map(str, paths), *sys.path]!r}\n"
    return subprocess.run(
        [sys.executable, "-c", prefix + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )


def install_in(folder, version, *, is_egg=False):
    """Put what an installer leaves of a cuda-core into a folder, or a link to its source."""
    place = folder
    if is_egg:
        place = folder.parent / "source"
        place.mkdir()
        (folder / "cuda-core.egg-link").write_text(f"{place}\n.\n")
        information = place / "cuda_core.egg-info"
    else:
        information = folder / f"cuda_core-{version}.dist-info"
    package = place / "cuda" / "core"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"__version__ = {version!r}\nNAME = 'the original'\n")
    (package / "_device.py").write_text("class Device: pass\n")
    information.mkdir()
    name = "PKG-INFO" if is_egg else "METADATA"
    (information / name).write_text(f"Metadata-Version: 2.1\nName: cuda-core\nVersion: {version}\n")
    return place


def test_an_original_that_is_imported_is_not_replaced(tmp_path):
    install_in(tmp_path, "1.2.2")
    result = run("        import cuda.core" + REFUSED + "        print(cuda.core.NAME)", tmp_path)
    assert result.stdout.splitlines() == [
        f"cuda.core is imported already, from {tmp_path}/cuda/core/__init__.py; call "
        "cuprum.drop_in.install() before anything imports cuda.core",
        "the original",
    ], result.stderr


def test_a_part_of_the_original_that_is_imported_is_not_mixed_with_ours(tmp_path):
    install_in(tmp_path, "1.2.2")
    start = "        import cuda.core._device\n        del sys.modules['cuda.core']"
    result = run(start + REFUSED, tmp_path)
    assert result.stdout == (
        f"cuda.core._device is imported already, from {tmp_path}/cuda/core/_device.py; call "
        "cuprum.drop_in.install() before anything imports cuda.core\n"
    ), result.stderr


@pytest.mark.parametrize("is_egg", [False, True])
def test_an_original_that_is_only_installed_is_never_imported(tmp_path, is_egg):
    folder = tmp_path / "installed"
    folder.mkdir()
    place = install_in(folder, "1.2.2", is_egg=is_egg)
    result = run(
        """
        import cuprum.drop_in, importlib.metadata
        cuprum.drop_in.install()
        import cuda.core._device, cuda.core.graph
        print(hasattr(cuda.core, "NAME"), cuda.core._device.Device is cuda.core.Device)
        print(importlib.metadata.version("cuda-core"))
        try:
            import cuda.core.only_there
        except ModuleNotFoundError as error:
            print(error)
        """,
        *{folder, place},
    )
    assert result.stdout.splitlines() == [
        "False True",
        "1.2.2",
        "No module named 'cuda.core.only_there'",
    ], result.stderr
    assert "Warning" not in result.stderr


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (
            "0.3.2",
            "cuda-core 0.3.2 is installed, but cuprum.drop_in has the names of 1.2.2: names of "
            "before 1.0 such as Condition, DevicePointerT, Graph and Buffer.get_ipc_descriptor "
            "are missing",
        ),
        (
            "2.0.0",
            "cuda-core 2.0.0 is installed, but cuprum.drop_in has the names of 1.2.2: newer names "
            "are missing",
        ),
        ("1.0.1", ""),
    ],
)
def test_an_installed_version_with_other_names_is_a_warning(tmp_path, version, message):
    install_in(tmp_path, version)
    result = run(
        """
        import warnings, cuprum.drop_in
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cuprum.drop_in.install()
        print(*(each.message for each in caught))
        """,
        tmp_path,
    )
    assert result.stdout == f"{message}\n", result.stderr


@pytest.mark.parametrize(
    ("place", "name", "message"),
    [
        ("cuda.core", "GraphBuilder", "cuda.core 1.0 replaced it by cuda.core.graph.GraphBuilder"),
        ("cuda.core.graph", "GraphDef", "replaced it by cuda.core.graph.GraphDefinition"),
        ("cuda.core.typing", "IsStreamT", "replaced it by cuda.core.typing.IsStreamType"),
    ],
)
def test_a_name_of_an_older_version_says_what_it_became(place, name, message):
    result = run(
        f"""
        import cuprum.drop_in, importlib
        cuprum.drop_in.install()
        getattr(importlib.import_module({place!r}), {name!r})
        """
    )
    assert message in result.stderr, result.stderr


@pytest.mark.parametrize("file", ["cuda.py", "cuda/__init__.py"])
def test_another_package_named_cuda_is_not_taken_for_nvidias(tmp_path, file):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("")
    result = run(REFUSED, tmp_path)
    assert result.stdout == (
        f"cuda is {tmp_path}/{file}, not the namespace that NVIDIA's packages share; rename it, "
        "or take its folder out of the search path\n"
    ), result.stderr


def test_a_namespace_of_another_origin_keeps_its_other_packages(tmp_path):
    (tmp_path / "cuda" / "mine").mkdir(parents=True)
    (tmp_path / "cuda" / "mine" / "__init__.py").write_text("WORD = 'found'\n")
    result = run(
        """
        import cuda.mine
        import cuprum.drop_in
        cuprum.drop_in.install()
        import cuda.core
        print(cuda.mine.WORD, cuda.core.__version__)
        """,
        tmp_path,
    )
    assert result.stdout == "found 1.2.2\n", result.stderr


def test_a_sub_interpreter_is_refused():
    name = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    pytest.importorskip(name)
    inner = textwrap.dedent(
        f"""
        import sys; sys.path[:0] = {sys.path!r}
        try:
            import cuprum.drop_in
            cuprum.drop_in.install()
        except (RuntimeError, ImportError) as error:
            print(error)
        print("cuda.core" in sys.modules)
        """
    )
    result = run(
        f"""
        import {name} as interpreters
        interpreters.run_string(interpreters.create(), {inner!r})
        """
    )
    first, last = result.stdout.splitlines()
    assert "interpreter" in first, result.stderr
    assert last == "False"
