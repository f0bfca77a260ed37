# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "programs"
# The output of each program; the original prints the same.
OUTPUT = {
    "scale_and_add": ["10000 of 10000 right"],
    "two_streams": [
        "in order: True True",
        "too much: True",
        "too many threads: refused",
        "pool: True False 0",
        "used: 0",
    ],
    "any_array": [
        "(3, 4) int16 on host",
        "negated: True",
        "(10, 10) int32 True False",
        "[] True",
    ],
}


def run(*arguments, code=None):
    prefix = f"import sys; sys.path[:0] = {[*sys.path]!r}\n"
    if code is not None:
        arguments = ("-c", prefix + textwrap.dedent(code))
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


def test_cuda_core_is_cuprum_after_install():
    result = run(
        code="""
        import cuprum, cuprum.drop_in
        cuprum.drop_in.install()
        cuprum.drop_in.install()
        import cuda.core
        from cuda.core import Device, ProgramOptions, launch, _device
        from cuda.core.utils import StridedMemoryView
        from cuda.core.typing import SourceCodeType
        from cuda.core._utils.cuda_utils import CUDAError, NVRTCError, handle_return
        from cuda.core._stream import Stream
        assert Device is cuprum.Device and _device.Device is Device and launch is cuprum.launch
        assert ProgramOptions is cuprum.ProgramOptions
        assert CUDAError is cuprum.CUDAError and Stream is cuprum.Stream
        from cuda.core._version import __version__
        assert cuda.core.__version__ == __version__ == "1.2.2" != cuprum.__version__
        try: cuda.core.no_such_name
        except AttributeError as e: assert "no_such_name" in str(e)
        try: from cuda.core import no_such_name
        except ImportError: pass
        print(Device(0).device_id)
        """
    )
    assert result.stdout == "0\n", result.stderr


def test_programs_find_the_names_of_before_1_0():
    result = run(
        code="""
        import cuprum.drop_in
        cuprum.drop_in.install()
        import cuda.core
        import cuda.core.experimental as experimental
        from cuda.core.experimental import Device, LaunchConfig
        from cuda.core.experimental.utils import StridedMemoryView
        from cuda.core.experimental._utils.cuda_utils import handle_return
        assert Device is cuda.core.Device and experimental.__version__ == "1.2.2"
        import cuda.core.experimental._memory._buffer
        assert cuda.core.experimental._memory._buffer.Buffer is cuda.core.Buffer
        assert StridedMemoryView.__module__ == "cuda.core._memoryview"
        print(Device(0).device_id)
        """
    )
    assert result.stdout == "0\n", result.stderr


def test_only_the_names_of_cuda_core_show():
    result = run(
        code="""
        import cuprum.drop_in
        cuprum.drop_in.install()
        import cuda.core
        for name in ("CUDAError", "StridedMemoryView", "trace", "MemoryPool", "testing"):
            assert not hasattr(cuda.core, name), name
            assert name not in dir(cuda.core), name
        names = {}
        exec("from cuda.core import *", names)
        assert {"Device", "LaunchConfig", "launch", "Host"} <= set(names)
        assert set(cuda.core.__all__) <= set(dir(cuda.core))
        assert not {name for name in cuda.core.__all__ if name.startswith("_")}
        code = cuda.core.ObjectCode.from_ptx(b"x")
        code.close()
        assert "closed" in repr(code)
        print(len(cuda.core.__all__))
        """
    )
    assert result.stdout == "39\n", result.stderr


def test_attributes_that_the_driver_does_not_know_read_as_0():
    result = run(
        code="""
        import cuprum, cuprum.drop_in
        cuprum.drop_in.install()
        properties = cuprum.Device(0).properties
        for name in properties.names():
            value = getattr(properties, name)
            if not properties.is_supported(name):
                assert value in (0, 1, -1)
        """
    )
    assert result.returncode == 0, result.stderr


def test_install_after_the_original_is_refused():
    result = run(
        code="""
        import sys, types
        sys.modules["cuda"] = types.ModuleType("cuda")
        sys.modules["cuda.core"] = types.ModuleType("cuda.core")
        import cuprum.drop_in
        cuprum.drop_in.install()
        """
    )
    assert "cuda.core is imported already" in result.stderr


def test_handle_return():
    import enum

    import cuprum
    from cuprum.drop_in import handle_return

    class CUresult(enum.IntEnum):
        CUDA_SUCCESS = 0
        CUDA_ERROR_INVALID_VALUE = 1

    assert handle_return((CUresult.CUDA_SUCCESS,)) is None
    assert handle_return((CUresult.CUDA_SUCCESS, 5)) == 5
    assert handle_return((CUresult.CUDA_SUCCESS, 5, 6)) == (5, 6)
    with pytest.raises(cuprum.CUDAError, match="CUDA_ERROR_INVALID_VALUE") as caught:
        handle_return((CUresult.CUDA_ERROR_INVALID_VALUE,))
    assert caught.value.code == 1


def test_a_script_runs_with_its_arguments(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    (tmp_path / "beside.py").write_text("WORD = 'found'\n")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, beside\nfrom cuda.core import Device\n"
        "print(__name__, sys.argv[1:], beside.WORD, hasattr(Device, 'is_emulated'))\n"
    )
    result = run("-m", "cuprum.drop_in", str(script), "one", "two")
    assert result.stdout == "__main__ ['one', 'two'] found True\n", result.stderr


def test_a_module_runs_with_its_arguments(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    tests = tmp_path / "test_original.py"
    tests.write_text(
        "from cuda.core import Device\n\n\n"
        "def test_it():\n    assert hasattr(Device, 'is_emulated')\n"
    )
    result = run("-m", "cuprum.drop_in", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests))
    assert "1 passed" in result.stdout, result.stdout + result.stderr


def test_code_runs_with_its_arguments(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    code = (
        "import sys; from cuda.core import Device; print(__name__, sys.argv, Device(0).device_id)"
    )
    result = run("-m", "cuprum.drop_in", "-c", code, "-m", "two")
    assert result.stdout == "__main__ ['-c', '-m', 'two'] 0\n", result.stderr


def test_standard_input_runs_as_a_script(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    result = subprocess.run(
        [sys.executable, "-m", "cuprum.drop_in", "-", "one"],
        input="import sys, cuda.core; print(sys.argv, cuda.core.__version__)",
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "['-', 'one'] 1.2.2\n", result.stderr


def test_a_folder_with_a_main_module_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    (tmp_path / "beside.py").write_text("WORD = 'found'\n")
    (tmp_path / "__main__.py").write_text("import beside, cuda.core\nprint(beside.WORD)\n")
    result = run("-m", "cuprum.drop_in", str(tmp_path))
    assert result.stdout == "found\n", result.stderr


def test_without_a_script_it_says_how(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    result = run("-m", "cuprum.drop_in")
    assert result.returncode != 0
    assert "usage" in result.stderr


def test_a_script_that_does_not_exist_gives_one_line(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    result = run("-m", "cuprum.drop_in", "/no/such.py")
    assert result.returncode == 2
    assert result.stderr == "cuprum.drop_in: there is no file '/no/such.py'\n"


@pytest.mark.parametrize("name", OUTPUT)
def test_programs_written_for_cuda_core_run_unchanged(name, monkeypatch):
    pytest.importorskip("numpy")
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    result = run("-m", "cuprum.drop_in", str(PROGRAMS / f"{name}.py"))
    assert result.stdout.splitlines() == OUTPUT[name], result.stderr


def test_programs_written_for_cuda_core_pass_the_type_checker(monkeypatch, tmp_path):
    pytest.importorskip("mypy")
    import cuprum.drop_in

    monkeypatch.setenv("MYPYPATH", f"{cuprum.drop_in.PATH}:{Path(cuprum.__file__).parent.parent}")
    result = run(
        *("-m", "mypy", "--strict", "--allow-untyped-defs", "--allow-untyped-calls"),
        *("--config-file", "", "--namespace-packages", "--explicit-package-bases"),
        *("--cache-dir", str(tmp_path), *(str(PROGRAMS / f"{name}.py") for name in OUTPUT)),
    )
    assert result.returncode == 0, result.stdout
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from cuda.core import Device\nDevice(0).no_such_name\n")
    result = run("-m", "mypy", "--config-file", "", "--cache-dir", str(tmp_path), str(wrong))
    assert "no_such_name" in result.stdout


def test_children_of_multiprocessing_find_cuprum(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import multiprocessing, subprocess, sys
            def child(queue):
                import cuda.core
                queue.put(hasattr(cuda.core.Device, "is_emulated"))
            if __name__ == "__main__":
                context = multiprocessing.get_context("spawn")
                queue = context.Queue()
                process = context.Process(target=child, args=(queue,))
                process.start()
                print(queue.get())
                process.join()
                code = "import cuda.core; print(hasattr(cuda.core.Device, 'is_emulated'))"
                subprocess.run([sys.executable, "-c", code], check=True)
            """
        )
    )
    result = run("-m", "cuprum.drop_in", str(script))
    assert result.stdout.split() == ["True", "True"], result.stderr
