# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Releasing objects while PyTorch captures a graph on a stream that Cuprum has never seen."""

import gc

import pytest

import cuprum

torch = pytest.importorskip("torch")
if cuprum.Device().is_emulated or not torch.cuda.is_available():
    pytest.skip("PyTorch needs a GPU", allow_module_level=True)

KERNEL = 'extern "C" __global__ void nothing() {}'


@pytest.fixture
def device():
    device = cuprum.Device(torch.cuda.current_device())
    device.set_current()
    return device


def releasable(device, kind):
    """Create an object whose release calls the driver."""
    stream = device.create_stream()
    if kind == "pool memory":
        return device.allocate(1 << 20, stream=stream)
    if kind == "pinned memory":
        return cuprum.LegacyPinnedMemoryResource().allocate(4096)
    if kind == "code":
        kernel = cuprum.Program(KERNEL, "c++").compile("cubin").get_kernel("nothing")
        cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), kernel)
        stream.sync()
        return kernel
    event = stream.record()
    return stream, event


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
@pytest.mark.parametrize("kind", ["pool memory", "pinned memory", "code", "stream and event"])
def test_a_release_leaves_a_capture_of_torch_intact(device, kind, mode):
    x = torch.ones(1000, device="cuda")
    torch.cuda.synchronize()
    held = [releasable(device, kind) for _ in range(3)]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode=mode):
        x += 1
        held.clear()
        gc.collect()
        x *= 2
    graph.replay()
    torch.cuda.synchronize()
    assert x.tolist() == [4.0] * 1000
