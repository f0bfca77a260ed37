# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Progress on a terminal: long kernels of the emulated device, and long compilations.

Each program runs on a terminal of its own. It goes on only when the test has seen what it waits
for, so nothing depends on how fast the machine is.
"""

import contextlib
import os
import pty
import re
import select
import subprocess
import sys
import threading
import time

import pytest

# How long to wait for what must appear. A test takes this long only if it fails.
TIMEOUT_S = 60
ERASED = "\r\x1b[K"

KERNEL = """
import sys
import cuprum

device = cuprum.Device(0)
device.set_current()
stream = device.create_stream()
source = '''
extern "C" __global__ void wait_for_host(volatile int* flag) {
    if (blockIdx.x == gridDim.x - 1) {
        printf("hello from the last block\\\\n");
        while (*flag == 0) {}
    }
}
'''
kernel = cuprum.Program(source, "c++").compile("ptx").get_kernel("wait_for_host")
flag = cuprum.LegacyPinnedMemoryResource().allocate(4, stream=stream)
flag.fill(b"\\0", stream=stream)
stream.sync()
cuprum.launch(stream, cuprum.LaunchConfig(grid=64, block=1), kernel, flag)
sys.stdin.readline()
flag.copy_from_host(b"\\1\\0\\0\\0", stream=device.create_stream())
stream.sync()
print("the end", flush=True)
"""

COMPILATION = """
import contextlib, sys
import cuprum

program = cuprum.Program(
    f'#include "{sys.argv[1]}"\\nextern "C" __global__ void k() {{}}', "c++",
    cuprum.ProgramOptions(name="slow \\x1b[31mk.cu", arch="sm_90"))
with contextlib.suppress(cuprum.NVRTCError):
    program.compile("ptx")
print("the end", flush=True)
"""


class Terminal:
    """A program on a terminal."""

    def __init__(self, arguments, environment):
        self.primary, secondary = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", *arguments],
            stdin=subprocess.PIPE,
            stdout=secondary,
            stderr=secondary,
            env={**os.environ, "TERM": "xterm", **environment},
            start_new_session=True,
        )
        os.close(secondary)
        self.text = ""

    def read_until(self, pattern):
        """Read until the program has written something, or has ended."""
        deadline = time.monotonic() + TIMEOUT_S
        while not re.search(pattern, self.text):
            ready, _, _ = select.select([self.primary], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{pattern} did not appear: {self.text!r}"
            if not self._read():
                return
        return

    def _read(self):
        try:
            data = os.read(self.primary, 65536)
        except OSError:  # what a terminal reports when its last writer has gone
            return False
        self.text += data.decode(errors="replace")
        return bool(data)

    def finish(self):
        """Let the program go on, and return all that it wrote."""
        self.process.stdin.write(b"\n")
        self.process.stdin.close()
        while self._read():
            pass
        assert self.process.wait(TIMEOUT_S) == 0, self.text
        return self.text

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.primary)


@pytest.fixture
def on_terminal():
    terminals = []

    def start(*arguments, **environment):
        terminals.append(Terminal(arguments, environment))
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.close()


class SlowHeader:
    """A header that can be opened only once it is released: a pipe.

    NVRTC waits for the pipe to be opened. It may then refuse it, because it is no plain file.
    """

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def release(self):
        self._thread.start()

    def _serve(self):
        """End each reading of the pipe, whenever a compiler opens it."""
        while not self._is_done.wait(0.01):
            with contextlib.suppress(OSError):  # nobody reads now
                os.close(os.open(self.path, os.O_WRONLY | os.O_NONBLOCK))

    def close(self):
        self._is_done.set()
        if self._thread.ident is not None:
            self._thread.join()


@pytest.fixture
def slow_header(tmp_path):
    headers = []

    def make(name):
        headers.append(SlowHeader(tmp_path / name))
        return headers[-1]

    yield make
    for header in headers:
        header.close()


@pytest.fixture
def emulated(device):
    if not device.is_emulated:
        pytest.skip("only the emulated device shows progress of kernels")


@pytest.mark.usefixtures("emulated")
def test_a_long_kernel_shows_how_many_blocks_are_done(on_terminal):
    terminal = on_terminal(KERNEL, CUPRUM_PROGRESS="1")
    line = r"cuprum emulator: kernel wait_for_host: 63 of 64 blocks \(98 %\), \d+ s"
    terminal.read_until(line)
    text = terminal.finish()
    # The line is erased before other output, and nothing of it stays at the end.
    shown, rest = re.split(line + r"(?!.*blocks)", text, maxsplit=1, flags=re.DOTALL)
    assert ERASED in shown
    assert rest.startswith(ERASED)
    assert rest.removeprefix(ERASED) == "hello from the last block\r\nthe end\r\n"


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("environment", [{"CUPRUM_PROGRESS": "0"}, {"TERM": "dumb"}])
def test_progress_is_off_with_one_switch_and_on_simple_terminals(on_terminal, environment):
    terminal = on_terminal(KERNEL, **{"CUPRUM_PROGRESS": "1", **environment})
    time.sleep(2)  # the kernel runs for longer than the second after which a line would appear
    assert terminal.finish() == "hello from the last block\r\nthe end\r\n"


@pytest.mark.usefixtures("emulated")
def test_progress_needs_a_terminal():
    process = subprocess.Popen(
        [sys.executable, "-c", KERNEL],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "CUPRUM_PROGRESS": "1", "TERM": "xterm"},
    )
    time.sleep(2)
    output, errors = process.communicate(b"\n", timeout=TIMEOUT_S)
    assert process.returncode == 0
    assert (output, errors) == (b"hello from the last block\nthe end\n", b"")


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("value", ["soon", "-1", "86401", "1.5"])
def test_a_bad_value_is_refused_by_the_emulated_device(value):
    done = subprocess.run(
        [sys.executable, "-c", "import cuprum; cuprum.Device(0)"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, "CUPRUM_PROGRESS": value},
    )
    assert done.returncode != 0
    assert f"CUPRUM_PROGRESS='{value}' is not valid: expected a number from 0 to 86400" in (
        done.stderr
    )
    assert f"CUPRUM_PROGRESS is '{value}' and is ignored" in done.stderr


def test_a_long_compilation_says_what_is_compiled(on_terminal, slow_header):
    header = slow_header("header.h")
    terminal = on_terminal(COMPILATION, str(header.path), CUPRUM_PROGRESS="1")
    # What a terminal would obey is shown as question marks.
    terminal.read_until(r"cuprum: compiling slow \?\[31mk\.cu for sm_90, \d+ s")
    header.release()
    text = terminal.finish()
    assert text.endswith(ERASED + "the end\r\n")
    assert "\x1b[31m" not in text


def test_short_work_shows_nothing(on_terminal):
    program = (
        "import cuprum; cuprum.Program('extern \"C\" __global__ void k() {}', 'c++')"
        ".compile('ptx').get_kernel('k'); print('the end')"
    )
    assert on_terminal(program, CUPRUM_PROGRESS="3600").finish() == "the end\r\n"


def test_compilations_of_several_threads_share_the_terminal(on_terminal, slow_header):
    headers = [slow_header(f"header{index}.h") for index in range(3)]
    program = """
import contextlib, sys, threading
import cuprum

def work(header):
    with contextlib.suppress(cuprum.NVRTCError):
        cuprum.Program(f'#include "{header}"\\n', "c++",
                       cuprum.ProgramOptions(name=header[-9:], arch="sm_90")).compile("ptx")

threads = [threading.Thread(target=work, args=(each,)) for each in sys.argv[1:]]
for each in threads:
    each.start()
for each in threads:
    each.join()
print("the end", flush=True)
"""
    paths = [str(header.path) for header in headers]
    terminal = on_terminal(program, *paths, CUPRUM_PROGRESS="1")
    terminal.read_until(r"cuprum: compiling header\d\.h for sm_90 and 2 more, \d+ s")
    for header in headers:
        header.release()
    assert terminal.finish().endswith(ERASED + "the end\r\n")
