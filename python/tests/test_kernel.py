# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import weakref

import pytest

import cuprum


def test_kernels_are_not_made_directly():
    with pytest.raises(RuntimeError, match="get_kernel"):
        cuprum.Kernel()


def test_facts_of_a_kernel(module):
    kernel = module.get_kernel("saxpy")
    assert isinstance(kernel.handle, int)
    assert kernel.name == "saxpy"
    assert repr(kernel) == f"<Kernel handle={kernel.handle:#x}>"
    assert kernel == module.get_kernel("saxpy")
    assert hash(kernel) == hash(module.get_kernel("saxpy"))
    assert kernel != module.get_kernel("empty")
    assert kernel != kernel.handle
    assert weakref.ref(kernel)() is kernel


def test_parameters(module):
    kernel = module.get_kernel("saxpy")
    assert kernel.num_arguments == 4
    assert kernel.arguments_info == [(0, 4), (8, 8), (16, 8), (24, 8)]
    assert kernel.arguments_info[1].offset == 8
    assert kernel.arguments_info[0].size == 4
    assert module.get_kernel("empty").arguments_info == []
    assert module.get_kernel("keep_pair").arguments_info[1].size == 16


def test_attributes_on_the_current_and_on_a_named_device(module, device):
    attributes = module.get_kernel("saxpy").attributes
    assert attributes.max_threads_per_block >= 32
    assert attributes.num_regs >= 1
    assert attributes.shared_size_bytes == 0
    assert attributes.const_size_bytes >= 0
    assert attributes.local_size_bytes >= 0
    assert attributes.ptx_version >= 50
    assert attributes.binary_version >= 50
    assert attributes.max_dynamic_shared_size_bytes > 0
    assert attributes[device].num_regs == attributes.num_regs
    assert attributes[0].num_regs == attributes.num_regs
    with pytest.raises(ValueError, match="1000"):
        attributes[1000]


def test_occupancy(module, device):
    occupancy = module.get_kernel("empty").occupancy
    assert occupancy.max_active_blocks_per_multiprocessor(256, 0) >= 1
    with pytest.raises(ValueError, match="dynamic_shared_memory_size must be at least 0"):
        occupancy.max_active_blocks_per_multiprocessor(256, -1)


def test_a_kernel_keeps_its_code_loaded(compiled, stream):
    kernel = cuprum.ObjectCode.from_cubin(compiled[0]).get_kernel("empty")
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), kernel)
    stream.sync()


def test_a_closed_kernel_says_so(module, stream):
    kernel = module.get_kernel("empty")
    kernel.close()
    kernel.close()
    assert repr(kernel) == "<Kernel closed>"
    config = cuprum.LaunchConfig(grid=1, block=1)
    for use in (lambda: kernel.handle, lambda: cuprum.launch(stream, config, kernel)):
        with pytest.raises(cuprum.ClosedError, match="Kernel"):
            use()
