# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Call a host function in the order of a stream, and pass a value from one stream to another."""

import cuprum

device = cuprum.Device()
stream, other = device.create_stream(), device.create_stream()

# Do not take it from a pool: drivers cannot wait on pool memory.
flag = cuprum.LegacyPinnedMemoryResource().allocate(8, stream=stream)
flag.fill(0, stream=stream)
stream.sync()

# On the device, `other` waits for the value that `stream` writes after the host function.
steps = []
other.wait_value(flag, 1)
stream.launch_host(lambda: steps.append(1))  # must not call CUDA
stream.write_value(flag, 1)
other.launch_host(lambda: steps.append(2))
other.sync()
stream.sync()

assert steps == [1, 2]
print("the host was called from two streams, in order")
flag.close()
