# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
import textwrap


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
        assert cuda.core.__version__ == cuprum.__version__
        try: cuda.core.no_such_name
        except AttributeError as e: assert "no_such_name" in str(e)
        try: from cuda.core import no_such_name
        except ImportError: pass
        print(Device(0).device_id)
        """
    )
    assert result.stdout == "0\n", result.stderr


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

    import pytest

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
        "print(__name__, sys.argv[1:], beside.WORD, Device.__module__.split('.')[0])\n"
    )
    result = run("-m", "cuprum.drop_in", str(script), "one", "two")
    assert result.stdout == "__main__ ['one', 'two'] found cuprum\n", result.stderr


def test_without_a_script_it_says_how(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    result = run("-m", "cuprum.drop_in")
    assert result.returncode != 0
    assert "usage" in result.stderr
