# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Memory of the real Vulkan: of the GPU, or of lavapipe for the emulated device."""

import os

import pytest
from headless_vulkan import VulkanMemory

import cuprum
from cuprum import ExternalMemory

SIZE = 1 << 16


@pytest.fixture
def vulkan(device):
    try:
        memory = VulkanMemory(SIZE, b"llvmpipe" if device.is_emulated else b"NVIDIA")
    except OSError as error:
        pytest.skip(f"no Vulkan: {error}")
    yield memory
    os.close(memory.descriptor)
    memory.close()


def test_cuda_and_vulkan_see_the_same_bytes(vulkan, stream):
    vulkan.contents[:8] = list(range(8))
    with ExternalMemory.from_fd(vulkan.descriptor, SIZE) as memory, memory.map() as buffer:
        seen = bytearray(8)
        buffer[:8].copy_to_host(seen, stream=stream)
        stream.sync()
        assert seen == bytes(range(8))
        buffer[16:32].fill(9, stream=stream)
        stream.sync()
    assert bytes(vulkan.contents[8:40]) == bytes(8) + b"\t" * 16 + bytes(8)


def test_more_than_vulkan_allocated_is_refused(vulkan, device):
    if not device.is_emulated:
        pytest.skip("the driver of a GPU does not check the size")
    with pytest.raises(cuprum.CUDAError, match="cuImportExternalMemory"):
        ExternalMemory.from_fd(vulkan.descriptor, SIZE * 2)
