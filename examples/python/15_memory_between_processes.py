# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Share device memory between two processes: the child squares what the parent wrote."""

import multiprocessing

import numpy as np

import cuprum

COUNT = 1024


def square(buffer: cuprum.Buffer) -> None:
    """Square the numbers in the child; `buffer` is the parent's memory, mapped here."""
    device = cuprum.Device(0)
    stream = device.create_stream()
    values = np.empty(COUNT, np.int32)
    buffer.copy_to_host(values, stream=stream)
    stream.sync()
    buffer.copy_from_host(values * values, stream=stream)
    stream.sync()
    buffer.close()


def main() -> None:
    """Share a buffer with a child and check the result."""
    device = cuprum.Device(0)
    stream = device.create_stream()
    pool = cuprum.DeviceMemoryResource(device, {"max_size": 4 << 20, "ipc_enabled": True})
    with pool.allocate(COUNT * 4, stream=stream) as buffer:
        buffer.copy_from_host(np.arange(COUNT, dtype=np.int32), stream=stream)
        stream.sync()
        child = multiprocessing.Process(target=square, args=(buffer,))
        child.start()
        child.join()
        assert child.exitcode == 0
        result = np.empty(COUNT, np.int32)
        buffer.copy_to_host(result, stream=stream)
        stream.sync()
    assert (result == np.arange(COUNT, dtype=np.int32) ** 2).all()
    print(f"the child squared {COUNT} numbers in the parent's memory")
    pool.close()


if __name__ == "__main__":
    # CUDA does not work after a fork: the child must be a new interpreter.
    multiprocessing.set_start_method("spawn")
    main()
