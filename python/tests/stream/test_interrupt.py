# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Ctrl-C during a wait for a kernel that does not end."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import cuprum

SECONDS = 30  # the emulated device gives running kernels 2 s when the process exits
PROGRAM = r"""
import sys
import numpy as np
import cuprum

SOURCE = '''extern "C" __global__ void wait(volatile int* flag, int* out) {
    while (*flag == 0) {}
    *out = 7;
}'''
device = cuprum.Device(0)
device.set_current()
stream = device.create_stream()
memory = cuprum.LegacyPinnedMemoryResource().allocate(8, stream=stream)
flag, out = np.frombuffer(memory, np.int32).reshape(2, 1)
flag[0] = out[0] = 0
kernel = cuprum.Program(SOURCE, "c++").compile("ptx").get_kernel("wait")
config = cuprum.LaunchConfig(grid=1, block=1)
cuprum.launch(stream, config, kernel, memory.handle, memory.handle + 4)
event = stream.record()
WAITS = {
    "stream": stream.sync,
    "event": event.sync,
    "device": device.sync,
    "context": device.context.sync,
}
wait = WAITS[sys.argv[1]]
print("waiting", flush=True)
"""
CONTINUE = """
try:
    wait()
except KeyboardInterrupt:
    print("interrupted", stream.is_done, event.is_done, out[0], flush=True)
flag[0] = 1
wait()
print("done", stream.is_done, event.is_done, out[0], flush=True)
"""
HANDLER = """
import signal
def close(*ignored):
    print("handled", flush=True)
    event.close()
    stream.close()
    flag[0] = 1
signal.signal(signal.SIGINT, close)
wait()
print("done", out[0], flush=True)
"""


@pytest.fixture
def interrupted():
    """Run a program and send it SIGINT once it waits; return its status, output and errors."""
    processes = []

    def run(program, wait):
        code = PROGRAM + textwrap.dedent(program)
        process = subprocess.Popen(
            [sys.executable, "-c", code, wait],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout.readline() == "waiting\n", process.stderr.read()
        time.sleep(0.2)  # it is in the call by then; if not, the test passes for another reason
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=SECONDS)
        return process.returncode, output, errors

    yield run
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("wait", ["stream", "event", "device", "context"])
def test_ctrl_c_interrupts_the_wait_and_not_the_work(interrupted, wait):
    status, output, errors = interrupted(CONTINUE, wait)
    assert output == "interrupted False False 0\ndone True True 7\n", errors
    assert status == 0


@pytest.mark.parametrize("wait", ["stream", "device"])
def test_ctrl_c_ends_a_program_whose_kernel_never_ends(interrupted, wait):
    status, output, errors = interrupted("wait()", wait)
    assert "KeyboardInterrupt" in errors
    assert output == ""
    assert status == -signal.SIGINT


def test_a_program_can_exit_after_ctrl_c_while_the_kernel_runs(interrupted):
    program = """
    try:
        wait()
    except KeyboardInterrupt:
        print("leaving")
        sys.exit(3)
    """
    status, output, errors = interrupted(program, "stream")
    assert (status, output) == (3, "leaving\n"), errors


@pytest.mark.parametrize("wait", ["stream", "event", "device"])
def test_a_handler_that_does_not_raise_lets_the_wait_go_on(interrupted, wait):
    # The handler closes the object, which must not affect the current wait.
    status, output, errors = interrupted(HANDLER, wait)
    assert output == "handled\ndone 7\n", errors
    assert status == 0


def test_a_signal_that_another_thread_receives_is_noticed(device, stream):
    gate = threading.Event()
    stream.launch_host(gate.wait)
    seen = []

    def handle(*ignored):
        seen.append(threading.current_thread() is threading.main_thread())
        gate.set()

    def send():
        time.sleep(0.2)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    previous = signal.signal(signal.SIGUSR1, handle)
    sender = threading.Thread(target=send)
    try:
        sender.start()
        stream.sync()
    finally:
        signal.signal(signal.SIGUSR1, previous)
        gate.set()
        sender.join()
    assert seen == [True]


def test_a_thread_that_waits_leaves_signals_to_the_main_thread(device, stream):
    gate = threading.Event()
    stream.launch_host(gate.wait)
    waiter = threading.Thread(target=stream.sync)
    seen = []

    def handle(*ignored):
        seen.append(threading.current_thread() is threading.main_thread())

    previous = signal.signal(signal.SIGUSR1, handle)
    try:
        waiter.start()
        signal.pthread_kill(waiter.ident, signal.SIGUSR1)
        waiter.join(0.1)
        assert waiter.is_alive()
        assert seen == [True]
    finally:
        signal.signal(signal.SIGUSR1, previous)
        gate.set()
        waiter.join()


def test_a_long_wait_sleeps(device, stream):
    gate = threading.Event()
    stream.launch_host(gate.wait)
    opener = threading.Timer(0.5, gate.set)
    opener.start()
    begin = time.thread_time()
    stream.sync()
    spent = time.thread_time() - begin
    opener.join()
    assert spent < 0.25  # half of the wait: the thread sleeps for most of it


def test_a_wait_for_a_stream_that_others_keep_busy_ends(device):
    # The wait covers work that was enqueued before the call, not what other threads enqueue later.
    stream = device.create_stream()
    started, ended = [], []
    stop = threading.Event()

    def nap():
        time.sleep(0.002)
        ended.append(None)

    def enqueue():
        started.append(None)
        stream.launch_host(nap)

    def keep_busy():
        while not stop.is_set():
            if len(started) - len(ended) < 3:
                enqueue()
            time.sleep(0.0002)

    for _ in range(3):
        enqueue()
    filler = threading.Thread(target=keep_busy)
    filler.start()
    watchdog = threading.Timer(SECONDS, stop.set)  # so that a failure does not hang
    watchdog.start()
    stream.sync()
    was_busy = not stop.is_set()
    watchdog.cancel()
    stop.set()
    filler.join()
    assert was_busy
    assert len(ended) >= 3
    stream.sync()
    assert len(started) == len(ended)
    stream.close()


def test_a_failed_wait_says_which_call_failed(device):
    # Polling must not hide the error of the work, or attribute it to another call.
    program = """
    import cuprum
    device = cuprum.Device(0)
    device.set_current()
    stream = device.create_stream()
    source = 'extern "C" __global__ void trap(int n) { while (n--) __nanosleep(1000); __trap(); }'
    kernel = cuprum.Program(source, "c++").compile("ptx").get_kernel("trap")
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), kernel, 1000)
    try:
        stream.sync()
    except cuprum.CUDAError as error:
        print(error.call)
    """
    environment = {**os.environ, "CUPRUM_LOG": ""}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=environment,
        check=False,
    )
    assert result.stdout == "cuStreamSynchronize\n", result.stderr


def test_closed_objects_are_refused_as_before(device):
    stream = device.create_stream()
    event = stream.record()
    stream.close()
    event.close()
    for closed in (stream, event):
        with pytest.raises(cuprum.ClosedError):
            closed.sync()
