# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Several threads at once, forked children, and interpreters that exit with objects alive."""

import os
import subprocess
import sys
import sysconfig
import textwrap
import threading

import pytest

import cuprum

THREADS = 8
SOURCE = 'extern "C" __global__ void add(int* values, int n) { values[threadIdx.x] += n; }'


def run_on_threads(work):
    failures = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_each_makes_uses_and_closes_objects_of_its_own(device):
    code = cuprum.Program(SOURCE, "c++").compile("ptx")
    config = cuprum.LaunchConfig(grid=1, block=32)

    def work(number):
        mine = cuprum.Device(0)
        mine.set_current()
        for _ in range(10):
            stream = mine.create_stream()
            buffer = mine.allocate(128, stream=stream)
            buffer.fill(b"\x00", stream=stream)
            cuprum.launch(stream, config, code.get_kernel("add"), buffer, number)
            event = stream.record()
            event.sync()
            assert event.is_done
            buffer.close(stream)
            stream.sync()
            stream.close()

    run_on_threads(work)


def test_all_use_one_stream(device):
    stream = device.create_stream()
    events = []

    def work(_):
        for _ in range(50):
            events.append(stream.record())
            stream.wait(events[-1])

    run_on_threads(work)
    stream.sync()
    assert all(event.is_done for event in events)
    assert len(set(events)) == THREADS * 50


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has a GIL"
)
def test_a_free_threaded_interpreter_stays_free_threaded():
    result = run("import sys, cuprum; cuprum.Device(0); print(sys._is_gil_enabled())")
    assert (result.stdout, result.stderr) == ("False\n", "")


def test_eight_threads_on_all_devices():
    result = run(
        f"""
        import threading, cuprum
        devices = cuprum.Device.get_all_devices()
        code = cuprum.Program({SOURCE!r}, "c++").compile("ptx")
        right = []
        def work(number):
            device = devices[number % len(devices)]
            device.set_current()
            for _ in range(10):
                stream = device.create_stream()
                buffer = device.allocate(128, stream=stream)
                buffer.fill(b"\\x00", stream=stream)
                config = cuprum.LaunchConfig(grid=1, block=32)
                cuprum.launch(stream, config, code.get_kernel("add"), buffer, number)
                got = bytearray(128)
                buffer.copy_to_host(got, stream=stream)
                stream.record().sync()
                assert cuprum.Device() == stream.device == device
                right.append(bytes(got) == number.to_bytes(4, "little") * 32)
                buffer.close(stream)
                stream.close()
        threads = [threading.Thread(target=work, args=(number,)) for number in range({THREADS})]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(len(devices) >= 1, len(right), all(right))
        """,
        CUPRUM_EMULATOR_DEVICES="3",
    )
    assert (result.stdout, result.stderr) == (f"True {THREADS * 10} True\n", "")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_is_warned_and_refused():
    result = run(
        """
        import os, sys, warnings, cuprum
        stream = cuprum.Device(0).create_stream()
        child = os.fork()
        if child == 0:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    cuprum.Device(0).create_stream()
                except cuprum.CUDAError as error:
                    told = "spawn" in "".join(str(w.message) for w in caught)
                    sys.exit(0 if told and error.code == 3 else 5)
            sys.exit(6)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert result.stdout == "0\n", result.stderr


ORDERS = {
    "nothing closed": "",
    "buffer first": "del buffer",
    "stream first": "del stream",
    "closed": "buffer.close(stream); event.close(); stream.close()",
    "kept by a module": "import builtins; builtins.kept = (buffer, stream, event, kernel)",
    "kept by a cycle": "cycle = [buffer, stream, event, kernel]; cycle.append(cycle)",
    "kept by a thread": """
import threading, time
thread = threading.Thread(target=lambda kept: time.sleep(0.2), args=((buffer, stream),))
thread.daemon = True
thread.start()
""",
    "exit by exception": "raise SystemExit(0)",
    "exit in an atexit function": "import atexit; atexit.register(lambda: stream.handle)",
    "exit from a thread's exception": """
import threading
threading.excepthook = lambda _: None
thread = threading.Thread(target=lambda: stream.record().no_such_name)
thread.start()
""",
    "a context of its own is current": """
context = cuprum.Context.create(device)
context.push()
other = device.create_stream()
""",
    "a host function is pending": """
import time
stream.launch_host(lambda: time.sleep(0.3))
stream.launch_host(lambda: None)
""",
    "daemon threads are at work": """
import threading, time
def work():
    mine = device.create_stream()
    while True:
        memory = device.allocate(64, stream=mine)
        memory.fill(b"1", stream=mine)
        mine.sync()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
""",
    "a trace is on": "cuprum.trace.start('/dev/null')",
    "pools and programs": """
pool = cuprum.DeviceMemoryResource(device, {"max_size": 1 << 21})
memory = pool.allocate(64, stream=stream)
program = cuprum.Program("", "c++")
del pool
""",
    "released by other objects' finalisers": """
class Keeper:
    def __init__(self, *kept): self.kept = kept
    def __del__(self): self.kept[0].close()
keeper = Keeper(buffer); other = Keeper(stream, buffer); cuprum.keeper = Keeper(event)
""",
}


@pytest.mark.parametrize("ending", ORDERS.values(), ids=ORDERS)
def test_an_interpreter_leaves_quietly_whatever_is_alive(ending):
    result = run(
        f"""
        import cuprum
        device = cuprum.Device(0)
        device.set_current()
        stream = device.create_stream()
        buffer = device.allocate(1024, stream=stream)
        event = stream.record()
        code = cuprum.Program({SOURCE!r}, "c++").compile("ptx")
        kernel = code.get_kernel("add")
        cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=32), kernel, buffer, 1)
        """,
        ending,
    )
    assert (result.returncode, result.stderr) == (0, "")


def run(code, ending="", **variables):
    program = f"import sys; sys.path[:0] = {sys.path!r}\n" + textwrap.dedent(code) + ending
    environment = {**os.environ, "CUPRUM_EMULATOR_LOG": "off", **variables}
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment,
    )
