# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Let a stream call the host between two pieces of work, and hand a value from stream to stream."""

import cuprum

device = cuprum.Device()
device.set_current()
stream, other = device.create_stream(), device.create_stream()

# Not from a pool: such memory cannot be waited on.
flag = cuprum.LegacyPinnedMemoryResource().allocate(8, stream=stream)
flag.fill(0, stream=stream)
stream.sync()

# `other` waits on the device for what `stream` writes once the host was called.
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
