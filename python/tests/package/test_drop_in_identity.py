# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""What Python tells about the drop-in: modules, versions, copies, handles, threads."""

import importlib.util
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"
needs_bindings = pytest.mark.skipif(
    importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.bindings") is None,
    reason="needs cuda.bindings",
)


# Calls of the driver that this process has loaded; a kernel's handle without asking for it.
DRIVER = """
        import ctypes, re
        def driver():
            with open("/proc/self/maps") as maps:
                return ctypes.CDLL(re.search(r"(/\\S*/libcuda\\.so\\S*)\\n", maps.read())[1])
        def handle_shown(kernel):
            return ctypes.c_void_p(int(re.search(r"handle=(0x\\w+)", repr(kernel))[1], 16))
"""


def run(code, *options):
    prefix = f"import sys; sys.path[:0] = {[*sys.path]!r}\nimport cuprum, cuprum.drop_in\n"
    prefix += "cuprum.drop_in.install()\nfrom cuda.core import *\n"
    return subprocess.run(
        [sys.executable, *options, "-c", prefix + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
    )


@needs_bindings
@pytest.mark.skipif(not TOOLS.is_dir(), reason="needs the tools of a clone")
def test_what_python_tells_agrees_with_the_original():
    sys.path.insert(0, str(TOOLS))
    from reference_tests import attributes

    describe = f"exec(compile(open({str(attributes.DESCRIBE)!r}).read(), 'describe', 'exec'))"
    result = run(f"import sys; sys.argv.append('--drop-in'); {describe}")
    assert result.returncode == 0, result.stderr
    ours = json.loads(result.stdout)
    theirs = attributes.recorded()
    differences = attributes.compare(theirs, ours)
    kept = attributes.read_kept()
    left = attributes.unexplained(differences, kept)
    assert not left, "\n".join(map(str, left))
    assert all(line.reason for line in kept)


@pytest.mark.skipif(not TOOLS.is_dir(), reason="needs the tools of a clone")
def test_signatures_are_compared_by_what_they_take():
    sys.path.insert(0, str(TOOLS))
    from reference_tests.attributes import accepts

    both, word, place = "POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY", "POSITIONAL_ONLY"
    a, b = ["a", both, False], ["b", both, True]
    assert accepts([a, b], [a, b])
    assert accepts([a, b, ["more", word, True]], [a, b])
    assert accepts([a, b], [a, ["b", word, True]])
    assert not accepts(None, [])
    assert not accepts([a], [a, b])
    assert not accepts([b, a], [a, b])
    assert not accepts([a, ["b", both, False]], [a, b])
    assert not accepts([a, ["b", word, True]], [a, b])
    assert not accepts([a, b, ["more", both, False]], [a, b])
    assert not accepts([["a", place, False]], [a])


def test_classes_functions_and_errors_name_the_package():
    result = run(
        """
        import pickle
        from cuda.core import graph, texture, utils, typing, system
        from cuda.core._utils.cuda_utils import CUDAError
        device = Device(0)
        device.set_current()
        stream = device.create_stream()
        for value in (device, stream, device.allocate(8, stream=stream), device.context,
                      device.memory_resource, device.properties, stream.record(),
                      ProgramOptions(), graph.GraphDefinition(), LaunchConfig(grid=1, block=1)):
            cls = type(value)
            assert cls.__module__.startswith("cuda.core."), cls
            assert cls.__module__ in sys.modules and repr(cls).startswith("<class 'cuda.core.")
            assert pickle.loads(pickle.dumps(cls)) is cls
        assert launch.__module__ == "cuda.core._launcher"
        assert utils.copy_batch.__module__ == "cuda.core._memory._copy_ops"
        assert utils.copy_batch.__doc__ and utils.copy_batch.__name__ == "copy_batch"
        assert system.get_num_devices.__module__ == "cuda.core.system._system"
        assert pickle.loads(pickle.dumps(typing.SourceCodeType.PTX)) is typing.SourceCodeType.PTX
        try:
            device.allocate(2**60, stream=stream)
        except CUDAError as error:
            kind = type(error)
            assert kind.__module__ == "cuda.core._utils.cuda_utils", kind
            assert pickle.loads(pickle.dumps(kind)) is kind
        assert pickle.loads(pickle.dumps(device)) is device
        """
    )
    assert result.returncode == 0, result.stderr


def test_without_the_drop_in_everything_names_cuprum():
    code = "import cuprum; print(cuprum.Device.__module__, cuprum.Host.__module__)"
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {[*sys.path]!r}\n{code}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "cuprum._cuprum cuprum\n", result.stderr


def test_annotations_can_be_evaluated():
    result = run(
        """
        import typing
        from cuda.core import graph, texture
        for cls in (ProgramOptions, LinkerOptions, StreamOptions, ContextOptions,
                    VirtualMemoryResourceOptions, graph.GraphCompleteOptions,
                    texture.OpaqueArrayOptions):
            assert set(typing.get_type_hints(cls)) >= set(cls.__dataclass_fields__)
        """
    )
    assert result.returncode == 0, result.stderr


def test_modules_have_specifications_files_and_the_version():
    result = run(
        """
        import importlib, importlib.metadata, importlib.resources, importlib.util
        import cuda.core
        for name in ("cuda.core", "cuda.core.utils", "cuda.core._device", "cuda.core.system",
                     "cuda.core._memory._buffer", "cuda.core.graph", "cuda.core.typing"):
            spec = importlib.util.find_spec(name)
            module = importlib.import_module(name)
            assert spec.name == name == module.__name__ and spec is module.__spec__, name
            assert module.__package__ == spec.parent, name
            assert importlib.reload(module) is module
        assert importlib.util.find_spec("cuda.core.no_such_module") is None
        assert importlib.resources.files("cuda.core").joinpath("__init__.pyi").is_file()
        assert importlib.metadata.version("cuda-core") == cuda.core.__version__ == "1.2.2"
        assert importlib.metadata.distribution("cuda.core").metadata["Name"] == "cuda-core"
        """
    )
    assert result.returncode == 0, result.stderr


def test_a_device_can_be_subclassed():
    result = run(
        """
        class Mine(Device):
            def twice(self):
                return 2 * self.device_id
        mine = Mine(1 if len(Device.get_all_devices()) > 1 else 0)
        assert isinstance(mine, Mine) and mine == Device(mine.device_id)
        assert mine.twice() == 2 * mine.device_id
        mine.set_current()
        stream = mine.create_stream()
        assert mine.allocate(8, stream=stream).size == 8 and mine.sync() is None
        assert Device(mine) == mine and {mine, Device(mine.device_id)} == {mine}
        """
    )
    assert result.returncode == 0, result.stderr


@needs_bindings
def test_handles_are_objects_of_the_bindings():
    result = run(
        """
        from cuda.core.graph import GraphDefinition
        device = Device(0)
        device.set_current()
        program = Program('extern "C" __global__ void f() {}', "c++")
        code = program.compile("ptx")
        names = [type(x).__name__ for x in (program.handle, code.handle, code.get_module(),
                 code.get_kernel("f").handle, Linker(code).handle, device.context.handle)]
        print(*names, int(program.handle) != 0)
        graph = GraphDefinition()
        before = graph.is_valid
        graph.close()
        print(before, graph.is_valid)
        """
    )
    assert result.stdout.splitlines() == [
        "nvrtcProgram CUlibrary CUmodule CUkernel int CUcontext True",
        "True False",
    ], result.stderr


def test_a_device_that_was_made_current_works_on_every_thread():
    result = run(
        """
        import ctypes, threading
        from cuda.core._utils.cuda_utils import CUDAError
        device = Device(0)
        refused = []
        def use():
            for call in (lambda: device.allocate(8, stream=stream), device.sync,
                         lambda: device.context, device.create_stream, device.create_event,
                         device.create_graph_builder, lambda: Device(0).memory_resource):
                call()
        def on_a_thread():
            try:
                use()
            except CUDAError as error:
                refused.append(str(error))
            done.append(True)
        done = []
        stream = device.default_stream
        thread = threading.Thread(target=on_a_thread)
        thread.start()
        thread.join()
        print("device 0 was never made current" in refused[0], len(done))
        device.set_current()
        stream = device.create_stream()
        thread = threading.Thread(target=on_a_thread)
        thread.start()
        thread.join()
        print(len(refused), len(done))
        """
    )
    assert result.stdout.splitlines() == ["True 1", "1 2"], result.stderr


def test_the_current_context_stays_as_it_was():
    result = run(
        DRIVER
        + """
        import threading
        device = Device(0)
        device.set_current()
        stream = device.create_stream()
        found = []
        def on_a_thread():
            for call in (lambda: device.allocate(8, stream=stream), device.sync,
                         lambda: device.context, device.create_stream, device.create_event,
                         device.create_graph_builder, lambda: device.resources,
                         lambda: stream.sync(), lambda: stream.record()):
                call()
                current = ctypes.c_void_p()
                assert driver().cuCtxGetCurrent(ctypes.byref(current)) == 0
                found.append(current.value)
        thread = threading.Thread(target=on_a_thread)
        thread.start()
        thread.join()
        print(set(found), len(found))
        """
    )
    assert result.stdout == "{None} 9\n", result.stderr


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    "given", ["code.handle", "code.get_kernel('f').handle", "code.get_module()"]
)
def test_a_library_whose_handle_was_given_away_is_not_ours_to_unload(is_first, given):
    result = run(
        DRIVER
        + f"""
        import gc
        device = Device(0)
        device.set_current()
        code = Program('extern "C" __global__ void f() {{}}', "c++").compile("ptx")
        given = {given}
        kernel = code.get_kernel("f")
        library = ctypes.c_void_p()
        handle = handle_shown(kernel)
        assert driver().cuKernelGetLibrary(ctypes.byref(library), handle) == 0
        if {is_first}:
            assert driver().cuLibraryUnload(library) == 0
        del code, kernel
        gc.collect()
        if not {is_first}:
            assert driver().cuLibraryUnload(library) == 0
        print("done")
        """,
        "-W",
        "always",
    )
    assert result.stdout == "done\n", result.stderr
    assert "cuLibraryUnload" not in result.stderr


def test_a_library_whose_handle_was_not_given_away_is_unloaded():
    result = run(
        DRIVER
        + """
        import gc
        device = Device(0)
        device.set_current()
        code = Program('extern "C" __global__ void f() {}', "c++").compile("ptx")
        kernel = code.get_kernel("f")
        handle = handle_shown(kernel)
        del code, kernel
        gc.collect()
        library = ctypes.c_void_p()
        print(driver().cuKernelGetLibrary(ctypes.byref(library), handle) != 0)
        """
    )
    assert result.stdout == "True\n", result.stderr
