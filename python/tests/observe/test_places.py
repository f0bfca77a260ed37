# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Reports of the emulated device show the line of the Python program. Each case is a program."""

import ctypes
import os
import re
import subprocess
import sys

import pytest

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry write(.param .u64 p, .param .u32 i)
{
    .reg .b32 %r<2>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [i];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], 7;
    ret;
}
"""

# Without these functions, only callers with the GIL can read Python's frames; see
# emulator/src/places/python_stack.hpp.
DUMPS = ("PyUnstable_DumpTraceback", "_Py_DumpTraceback")
NEEDS_GIL = not any(hasattr(ctypes.pythonapi, name) for name in DUMPS)
# Cuprum keeps the GIL in short calls, but not at the first use of a pool or a kernel.
sees_first_use = pytest.mark.skipif(NEEDS_GIL, reason="this Python shows lines only with the GIL")

PRELUDE = f'''
import cuprum
import numpy

device = cuprum.Device(0)
device.set_current()
stream = device.default_stream
code = cuprum.ObjectCode.from_ptx(b"""{PTX}""")
kernel = code.get_kernel("write")


def write(buffer, index):
    config = cuprum.LaunchConfig(grid=1, block=1)
    cuprum.launch(stream, config, kernel, buffer, numpy.uint32(index))  # launched here
    try:
        stream.sync()
    except cuprum.CUDAError as error:
        print(error)
'''

# The driver's functions without Cuprum. A PyDLL keeps the GIL during calls; a CDLL releases it.
BARE_DRIVER = """
import ctypes
import sys

driver = getattr(ctypes, sys.argv[2])(sys.argv[1])
context = ctypes.c_void_p()
assert driver.cuInit(0) == 0
assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert driver.cuCtxSetCurrent(context) == 0


def allocate(size):
    memory = ctypes.c_uint64()
    assert driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(size)) == 0  # allocated here
    return memory
"""


@pytest.fixture
def library(device, driver):
    """The file of the emulated driver that this process uses."""
    if not device.is_emulated:
        pytest.skip("the reports are the emulated device's")
    return driver._name


@pytest.fixture
def run(library, tmp_path):
    """Run a program; return what it wrote to stderr, and the script file."""

    def run(program, *arguments, name="train.py", **settings):
        script = tmp_path / name
        script.write_text(program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(script), *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=120,
            env={
                **os.environ,
                "CUPRUM_DRIVER": library,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                **{f"CUPRUM_EMULATOR_{setting}": value for setting, value in settings.items()},
            },
        )
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        return done.stderr, str(script)

    return run


def line_of(program, mark):
    """Return the number of the line that contains a mark."""
    return next(n for n, line in enumerate(program.splitlines(), 1) if mark in line)


@sees_first_use
def test_an_overrun_names_the_lines_that_allocated_and_launched(run):
    program = PRELUDE + (
        "def load(size):\n"
        "    return device.allocate(size, stream=stream)  # allocated here\n"
        "weights = load(100)  # loaded here\n"
        "write(weights, 25)  # used here\n"
    )
    report, script = run(program, CHECK="memory")

    def at(mark):
        return f"at {script}:{line_of(program, mark)}\n"

    assert re.search(
        r"\n  0 bytes behind .* of 100 bytes .*, made by cuMemAllocFromPoolAsync, "
        r"host thread \d+\n"
        + re.escape(
            f"    in load() {at('allocated here')}    {at('loaded here')}  in kernel write,"
        ),
        report,
    ), report
    assert re.search(
        r"\n  launched by cuLaunchKernelEx?, host thread \d+\n"
        + re.escape(f"    in write() {at('launched here')}    {at('used here')}"),
        report,
    ), report


@sees_first_use
def test_use_after_free_names_the_line_that_freed(run):
    program = PRELUDE + (
        "buffer = device.allocate(100, stream=stream)\n"
        "address = numpy.uint64(int(buffer.handle))\n"
        "buffer.close()  # freed here\n"
        "stream.sync()\n"
        "write(address, 3)\n"
    )
    report, script = run(program, CHECK="memory")
    assert re.search(
        r"\n    freed by cuMemFreeAsync, host thread \d+\n"
        + re.escape(f"      at {script}:{line_of(program, 'freed here')}\n"),
        report,
    ), report


@sees_first_use
def test_leaks_are_named_when_the_interpreter_exits(run):
    program = PRELUDE + (
        "kept = [device.create_stream(), device.create_event()]  # made here\n"
        "memory = device.allocate(100, stream=stream)  # allocated here\n"
        "pinned = cuprum.PinnedMemoryResource().allocate(50, stream=stream)  # pinned here\n"
        # Objects release what they own when they are destroyed, so keep these alive forever.
        "import ctypes\n"
        "for each in (kept, memory, pinned, kernel):\n"
        "    ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))\n"
    )
    report, script = run(program, LEAKS="1")
    assert " objects were not given back:" in report
    for what, mark in [
        ("stream 0x", "made here"),
        ("event 0x", "made here"),
        ("of 100 bytes", "allocated here"),
        ("of 50 bytes", "pinned here"),
        ("library 0x", "kernel = "),
    ]:
        assert re.search(
            f"\n  .*{what}.*\n" + re.escape(f"    at {script}:{line_of(program, mark)}\n"), report
        ), (what, report)


def test_the_end_of_the_interpreter_is_survived(run, library):
    # The driver is called by atexit, by a thread that outlives the program, and during module
    # teardown.
    program = BARE_DRIVER + (
        "import atexit, threading, time\n"
        "memory = ctypes.c_uint64()\n"
        "class Late:\n"
        "    def __del__(self, function=driver.cuMemAlloc_v2, out=ctypes.byref(memory)):\n"
        "        function(out, 30)\n"
        "late = Late()\n"
        "sys.late = Late()\n"
        "atexit.register(allocate, 20)\n"
        "def forever():\n"
        "    driver.cuCtxSetCurrent(context)\n"
        "    while True:\n"
        "        driver.cuMemFree_v2(allocate(10))\n"
        "for _ in range(2):\n"
        "    threading.Thread(target=forever, daemon=True).start()\n"
        "time.sleep(0.05)\n"
    )
    for kind in ("PyDLL", "CDLL"):
        report, script = run(program, library, kind, LEAKS="1", CHECK="all")
        assert "of 20 bytes" in report, report
        assert "of 30 bytes" in report, report
        if kind == "PyDLL" or not NEEDS_GIL:
            place = f"in allocate() at {script}:{line_of(program, 'allocated here')}\n"
            assert place in report, report


@pytest.mark.parametrize("kind", ["PyDLL", "CDLL"])
def test_the_line_is_named_with_the_gil_and_without(run, library, kind):
    program = BARE_DRIVER + (
        "import threading\n"
        "class Loader:\n"
        "    def load(self):\n"
        "        driver.cuCtxSetCurrent(context)\n"
        "        allocate(100)  # loaded here\n"
        "thread = threading.Thread(target=Loader().load)\n"
        "thread.start()\n"
        "thread.join()\n"
        "def deep(depth):\n"
        "    return deep(depth - 1) if depth else allocate(50)  # deep here\n"
        "sys.setrecursionlimit(5000)\n"
        "deep(3000)\n"
        # The lookup must not change the current exception.
        "class Loud:\n"
        "    def __del__(self):\n"
        "        allocate(25)\n"
        "def fail():\n"
        "    loud = Loud()\n"
        "    raise KeyError('mine')\n"
        "try:\n"
        "    fail()\n"
        "except KeyError as error:\n"
        "    assert error.args == ('mine',)\n"
    )
    report, script = run(program, library, kind, LEAKS="1")
    assert "of 25 bytes" in report
    if kind == "CDLL" and NEEDS_GIL:
        assert "in Python; this version shows the line only" in report
        return
    allocate = f"    in allocate() at {script}:{line_of(program, 'allocated here')}\n"
    load = rf"    in (Loader\.)?load\(\) at {re.escape(script)}:{line_of(program, 'loaded here')}\n"
    assert re.search("of 100 bytes.*\n" + re.escape(allocate) + load, report), report
    deep = f"    in deep() at {script}:{line_of(program, 'deep here')}\n"
    assert re.search("of 50 bytes.*\n" + re.escape(allocate + deep + deep), report), report


def test_names_beyond_ascii_are_as_they_are(run, library):
    for kind in ("PyDLL", "CDLL"):
        program = BARE_DRIVER + "def größe():\n    allocate(100)\ngröße()\n"
        report, script = run(program, library, kind, name="übung_中🐍.py", LEAKS="1")
        if kind == "PyDLL" or not NEEDS_GIL:
            assert f"    in größe() at {script}:" in report, report


def test_no_place_is_named_unless_asked_for(run):
    program = PRELUDE + ("buffer = device.allocate(100, stream=stream)\nwrite(buffer, 1 << 20)\n")
    report, script = run(program, CHECK="window")
    assert "illegal address" in report
    assert script not in report
    assert "launched by" not in report
