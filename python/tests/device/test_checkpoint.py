# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Checkpoints of another process, which runs programs/checkpointed.py."""

import os
import select
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

import cuprum
from cuprum import checkpoint
from cuprum.checkpoint import Process

PROGRAM = Path(__file__).parents[1] / "programs/checkpointed.py"
LONG_MS = 20_000
HELD_BACK_S = 0.2


class Target:
    """The other process."""

    def __init__(self, device=0):
        self.child = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(device)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            text=True,
            bufsize=1,
        )
        assert self.receive() == "ready"
        self.process = Process(self.child.pid)

    def send(self, command):
        self.child.stdin.write(command + "\n")

    def receive(self):
        return self.child.stdout.readline().strip()

    def ask(self, command):
        self.send(command)
        return self.receive()

    def answers_within(self, seconds):
        return bool(select.select([self.child.stdout], [], [], seconds)[0])

    def end(self):
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()


@pytest.fixture
def target(device):
    try:
        _ = Process(os.getpid()).state
    except cuprum.NotSupportedError as error:
        pytest.skip(str(error))
    except cuprum.CUDAError:
        pass  # this process may have no context
    target = Target()
    yield target
    target.end()


# ---- arguments -----------------------------------------------------------------------------------


def test_process_is_the_only_public_name():
    assert checkpoint.__all__ == ["Process"]
    assert cuprum.checkpoint is checkpoint


def test_a_process_is_a_value():
    process = Process(7)
    assert process.pid == 7
    assert process == Process(7)
    assert process != Process(8)
    assert process != 7
    assert hash(process) == hash(Process(7))
    assert repr(process) == "<Process pid=7>"
    with pytest.raises(AttributeError):
        process.pid = 8


@pytest.mark.parametrize("pid", ["1", 1.5, None, True, b"1"])
def test_pid_must_be_an_int(pid):
    with pytest.raises(TypeError, match="pid must be an int, got"):
        Process(pid)


@pytest.mark.parametrize("pid", [0, -1, -(2**70)])
def test_pid_must_be_positive(pid):
    with pytest.raises(ValueError, match=f"pid must be a positive int, got {pid}"):
        Process(pid)


@pytest.mark.parametrize("pid", [2**31, 2**70])
def test_pid_must_be_possible(pid):
    with pytest.raises(ValueError, match=f"pid must be the number of a process, got {pid}"):
        Process(pid)


@pytest.mark.parametrize("timeout", ["1", 1.5, None, True])
def test_timeout_must_be_an_int(timeout):
    with pytest.raises(TypeError, match="timeout_ms must be an int, got"):
        Process(1).lock(timeout)


@pytest.mark.parametrize(
    ("timeout", "words"), [(-1, ">= 0"), (2**32, "at most 4294967295"), (2**70, "at most")]
)
def test_timeout_must_fit(timeout, words):
    with pytest.raises(ValueError, match=f"timeout_ms must be {words}"):
        Process(1).lock(timeout_ms=timeout)


@pytest.mark.parametrize("mapping", [[("a", "b")], "ab", 3, {1, 2}])
def test_mapping_must_be_one(mapping):
    with pytest.raises(TypeError, match="gpu_mapping must be a mapping"):
        Process(1).restore(mapping)


@pytest.mark.parametrize("value", [12345, None, b"0" * 16, 1.5])
def test_uuids_must_be_uuids(value):
    with pytest.raises(TypeError, match="must be CUDA UUID objects or UUID strings"):
        Process(1).restore({"0" * 32: value})


@pytest.mark.parametrize("text", ["", "00", "x" * 32, "0" * 33])
def test_texts_must_be_uuids(text):
    with pytest.raises(ValueError, match="32 hex characters.*got '" + text):
        Process(1).restore({text: "0" * 32})


# ---- a second process ----------------------------------------------------------------------------


def test_device_memory_of_another_process_comes_back(target):
    process = target.process
    target.ask("fill 3735928559")
    assert process.state == "running"
    process.lock(timeout_ms=LONG_MS)
    assert process.state == "locked"
    process.checkpoint()
    assert process.state == "checkpointed"
    process.restore()
    assert process.state == "locked"
    process.unlock()
    assert process.state == "running"
    assert target.ask("read") == "3735928559"
    target.ask("fill 5")
    assert target.ask("read") == "5"


def test_a_locked_process_waits_with_its_next_call(target):
    target.process.lock(LONG_MS)
    target.send("fill 9")
    assert not target.answers_within(HELD_BACK_S)
    target.process.unlock()
    assert target.receive() == "done"
    assert target.ask("read") == "9"


def test_a_lock_that_takes_too_long_leaves_the_process_running(target):
    target.ask("block")
    with pytest.raises(cuprum.CUDAError, match=r"after 100 ms; it continues") as caught:
        target.process.lock(timeout_ms=100)
    assert caught.value.name == "CUDA_ERROR_NOT_READY"
    assert target.process.state == "running"
    target.ask("unblock")
    target.process.lock(LONG_MS)
    target.process.unlock()


def test_waiting_for_a_lock_lets_other_threads_run(target):
    target.ask("block")
    locker = threading.Thread(target=target.process.lock)
    locker.start()
    target.send("unblock")  # needs the GIL; answered after the lock, which holds its calls back
    locker.join()
    assert target.process.state == "locked"
    target.process.unlock()
    assert target.receive() == "done"


def test_wrong_states_are_named_with_the_way_out(target):
    process = target.process
    for action, words in [
        (process.checkpoint, r"must be locked, but it is running; call lock\(\) first"),
        (process.unlock, r"must be locked, but it is running"),
        (process.restore, r"must be checkpointed, but it is running"),
    ]:
        with pytest.raises(cuprum.CUDAError, match=words) as caught:
            action()
        assert caught.value.name == "CUDA_ERROR_ILLEGAL_STATE"
    process.lock(LONG_MS)
    with pytest.raises(cuprum.CUDAError, match=r"it is locked; call unlock\(\) first"):
        process.lock()
    process.unlock()


def test_the_restore_thread_belongs_to_the_process(target):
    thread = target.process.restore_thread_id
    assert Path(f"/proc/{target.process.pid}/task/{thread}").exists()


def test_a_process_that_is_gone_is_named(target):
    target.end()
    gone = target.process
    for use in (lambda: gone.state, gone.lock, gone.unlock, lambda: gone.restore_thread_id):
        with pytest.raises(cuprum.CUDAError, match=f"there is no process {gone.pid}"):
            use()


def test_a_process_without_cuda_is_named(device):
    child = subprocess.Popen(["sleep", "60"])
    try:
        with pytest.raises(cuprum.CUDAError, match=str(child.pid)):
            _ = Process(child.pid).state
    finally:
        child.kill()
        child.wait()


def test_processes_can_move_to_other_devices(target):
    devices = cuprum.Device.get_all_devices()
    if len(devices) < 2:
        pytest.skip("one device only")
    target.ask("fill 77")
    before = target.ask("identity").split()
    assert before == [devices[0].uuid, devices[0].uuid, devices[0].pci_bus_id]
    rotation = {device: devices[(index + 1) % len(devices)] for index, device in enumerate(devices)}
    forms = [
        lambda device: device,
        lambda device: device.uuid,
        lambda device: "GPU-" + device.uuid,
        lambda device: uuid.UUID(device.uuid),
    ]
    for step, form in enumerate(forms, 1):
        target.process.lock(LONG_MS)
        target.process.checkpoint()
        target.process.restore({form(old): form(new) for old, new in rotation.items()})
        target.process.unlock()
        now = devices[step % len(devices)]
        assert target.ask("identity").split() == [now.uuid, now.uuid, now.pci_bus_id]
        assert target.ask("read") == "77"


def test_nvml_shows_where_a_process_is(target):
    devices = cuprum.Device.get_all_devices()
    if not devices[0].is_emulated:
        pytest.skip("NVML does not see the processes of every container")

    def places():
        return {
            device.index: process.used_gpu_memory
            for device in cuprum.system.Device.get_all_devices()
            for process in device.compute_running_processes
            if process.pid == target.process.pid
        }

    before = places()
    assert list(before) == [0]
    assert before[0] >= 4096
    target.process.lock(LONG_MS)
    assert places() == before
    target.process.checkpoint()
    assert places() == {}, "its devices are released"
    rotation = {old: devices[(i + 1) % len(devices)] for i, old in enumerate(devices)}
    target.process.restore(rotation)
    target.process.unlock()
    assert places() == {1: before[0]}
    target.ask("fill 1")
    assert places() == {1: before[0]}


def test_a_mapping_that_the_driver_refuses_leaves_the_checkpoint(target):
    devices = cuprum.Device.get_all_devices()
    if len(devices) < 2:
        pytest.skip("one device only")
    target.ask("fill 78")
    target.process.lock(LONG_MS)
    target.process.checkpoint()
    with pytest.raises(cuprum.CUDAError, match="it must name every device") as caught:
        target.process.restore({devices[0]: devices[1]})
    assert caught.value.name == "CUDA_ERROR_INVALID_VALUE"
    assert target.process.state == "checkpointed"
    target.process.restore({})
    target.process.unlock()
    assert target.ask("read") == "78"


def test_a_process_can_checkpoint_itself(device, stream):
    if not device.is_emulated:
        pytest.skip("a GPU's driver may wait for the call itself")
    buffer = device.allocate(64, stream=stream)
    buffer.fill(7, stream=stream)
    own = Process(os.getpid())
    own.lock(LONG_MS)
    own.checkpoint()
    assert own.state == "checkpointed"
    own.restore()
    own.unlock()
    content = bytearray(64)
    buffer.copy_to_host(content, stream=stream)
    stream.sync()
    assert content == b"\x07" * 64
    buffer.close()


def test_hash_of_a_device_does_not_depend_on_its_uuid(device):
    if not device.is_emulated:
        pytest.skip("moves this process")
    devices = cuprum.Device.get_all_devices()
    table = {each: each.device_id for each in devices}
    before = [each.uuid for each in devices]
    own = Process(os.getpid())
    device.set_current()
    for shift in (1, len(devices) - 1):
        own.lock(LONG_MS)
        own.checkpoint()
        own.restore({old: before[(i + shift) % len(before)] for i, old in enumerate(before)})
        own.unlock()
        assert [table[each] for each in devices] == list(range(len(devices)))
    assert [each.uuid for each in devices] == before


def test_a_process_that_ended_is_named_before_it_is_waited_for():
    child = subprocess.Popen([sys.executable, "-c", ""])
    try:
        while "Z (zombie)" not in Path(f"/proc/{child.pid}/status").read_text():
            time.sleep(0.01)
        with pytest.raises(cuprum.CUDAError, match=f"process {child.pid} has ended"):
            checkpoint.Process(child.pid).lock(timeout_ms=100)
    finally:
        child.wait()
