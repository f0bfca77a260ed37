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
BELOW = "\x1bD\x1bM\x1b7\x1bD\r\x1b[K"  # to the line below the cursor, which is erased
BACK = "\x1b8"
ERASED = BELOW + BACK

# Progress appears only on the terminal that controls the process.
OWN_TERMINAL = """
import fcntl, termios
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
"""

KERNEL = """
import ctypes, os, sys, threading
import cuprum

device = cuprum.Device(0)
device.set_current()
stream = device.create_stream()
source = r'''
extern "C" __global__ void wait_for_host(volatile int* flags) {
    if (blockIdx.x == gridDim.x - 1) {
        printf("hello from the last block\\n");
        flags[1] = 1;
        while (flags[0] == 0) {}
    }
}
'''
kernel = cuprum.Program(source, "c++").compile("ptx").get_kernel("wait_for_host")
buffer = cuprum.LegacyPinnedMemoryResource().allocate(8, stream=stream)
buffer.fill(b"\\0", stream=stream)
stream.sync()
flags = (ctypes.c_int * 2).from_address(int(buffer.handle))

def release():
    sys.stdin.readline()
    flags[0] = 1

def start():
    cuprum.launch(stream, cuprum.LaunchConfig(grid=64, block=1), kernel, buffer)
    while flags[1] == 0:
        pass
    print("working...", end="", flush=True)
"""
# One thread waits for the device, while another one waits for the test.
WAITING = (
    KERNEL
    + """
start()
threading.Thread(target=release).start()
stream.sync()
print("the end", flush=True)
"""
)
OUTPUT = "working...hello from the last block\r\nthe end\r\n"

COMPILATION = """
import contextlib, sys
import cuprum
print("working...", end="", flush=True)

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
            [sys.executable, "-c", OWN_TERMINAL + arguments[0], *arguments[1:]],
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

    def _read(self):
        try:
            data = os.read(self.primary, 65536)
        except OSError:  # what a terminal reports when its last writer has gone
            return False
        self.text += data.decode(errors="replace")
        return bool(data)

    def finish(self):
        """Let the program go on, and return all that it wrote."""
        with contextlib.suppress(BrokenPipeError):  # a program that reads nothing may have ended
            self.process.stdin.write(b"\n")
            self.process.stdin.close()
        self.read_until(r"(?!)")  # to the end
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


def without_progress(text):
    """Return what a program has written itself."""
    return re.sub(re.escape(BELOW) + ".*?" + re.escape(BACK), "", text, flags=re.DOTALL)


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
    terminal = on_terminal(WAITING, CUPRUM_PROGRESS="1")
    line = r"cuprum emulator: kernel wait_for_host: 63 of 64 blocks \(98 %\), \d+ s"
    terminal.read_until(line)
    text = terminal.finish()
    # The line is below what the program writes, which stays as it is. The last step erases it.
    assert without_progress(text) == OUTPUT
    last = text.rindex(BELOW)
    assert text[last:].startswith(ERASED)
    assert "the end" in text[last:]


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("environment", [{"CUPRUM_PROGRESS": "0"}, {"TERM": "dumb"}])
def test_progress_is_off_with_one_switch_and_on_simple_terminals(on_terminal, environment):
    terminal = on_terminal(WAITING, **{"CUPRUM_PROGRESS": "1", **environment})
    terminal.read_until("working")
    time.sleep(2)  # longer than the second after which a line would appear
    assert terminal.finish() == OUTPUT


@pytest.mark.usefixtures("emulated")
def test_a_program_that_does_not_wait_for_the_device_shows_nothing(on_terminal):
    """The program may ask its user something: the terminal is its own."""
    program = KERNEL + 'start()\nrelease()\nstream.sync()\nprint("the end", flush=True)'
    terminal = on_terminal(program, CUPRUM_PROGRESS="1")
    terminal.read_until("working")
    time.sleep(2)
    assert BELOW not in terminal.text
    assert without_progress(terminal.finish()) == OUTPUT


@pytest.mark.usefixtures("emulated")
def test_progress_does_not_follow_stderr_into_a_file(on_terminal, tmp_path):
    log = tmp_path / "log"
    program = WAITING.replace(
        "\nstart()\n", f"\nos.dup2(os.open({str(log)!r}, os.O_WRONLY | os.O_CREAT), 2)\nstart()\n"
    )
    terminal = on_terminal(program, CUPRUM_PROGRESS="1")
    terminal.read_until("working")
    time.sleep(2)
    assert terminal.finish() == OUTPUT
    assert log.read_bytes() == b""


@pytest.mark.usefixtures("emulated")
def test_a_forked_child_goes_on_while_progress_is_shown(on_terminal):
    """Its driver is refused, as with a GPU, and says so at once."""
    program = WAITING.replace(
        "stream.sync()\nprint",
        """
def fork():
    sys.stdin.readline()
    child = os.fork()
    if child == 0:
        try:
            stream.sync()
        except cuprum.CUDAError:
            os._exit(7)
        os._exit(1)
    print("child:", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    release()

threading.Thread(target=fork).start()
stream.sync()
print""",
    ).replace("threading.Thread(target=release).start()\n", "")
    terminal = on_terminal(program, CUPRUM_PROGRESS="1", CUPRUM_EMULATOR_LOG="info")
    terminal.read_until("63 of 64 blocks")
    terminal.process.stdin.write(b"\n")
    terminal.process.stdin.flush()
    terminal.read_until("child: 7")
    assert "the end" in terminal.finish()


@pytest.mark.usefixtures("emulated")
def test_progress_needs_a_terminal():
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "CUPRUM_PROGRESS": "1", "TERM": "xterm"},
    )
    started = process.stdout.read(len("working..."))
    time.sleep(2)
    output, errors = process.communicate(b"\n", timeout=TIMEOUT_S)
    assert process.returncode == 0
    assert (started + output).decode() == OUTPUT.replace("\r", "")
    assert errors == b""


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("value", ["soon", "-1", "86401", "1.5"])
def test_a_bad_value_is_ignored_with_a_warning(value):
    done = subprocess.run(
        [sys.executable, "-c", "import cuprum; cuprum.Device(0).sync(); print('runs')"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, "CUPRUM_PROGRESS": value},
    )
    assert (done.returncode, done.stdout) == (0, "runs\n"), done.stderr
    refused = f"CUPRUM_PROGRESS='{value}' is not valid: expected a number from 0 to 86400; it is "
    assert done.stderr.count(refused) == 1
    assert done.stderr.count(f"CUPRUM_PROGRESS is '{value}' and is ignored") == 1


def test_a_long_compilation_says_what_is_compiled(on_terminal, slow_header):
    header = slow_header("header.h")
    terminal = on_terminal(COMPILATION, str(header.path), CUPRUM_PROGRESS="1")
    # What a terminal would obey is shown as question marks.
    terminal.read_until(r"cuprum: compiling slow \?\[31mk\.cu for sm_90, \d+ s")
    header.release()
    text = terminal.finish()
    assert text.endswith(ERASED + "the end\r\n")
    assert without_progress(text) == "working...the end\r\n"
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
