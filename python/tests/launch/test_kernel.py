# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

import ctypes
import re
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
    # Machine code says only how large parameters are.
    long = "(int64 or pointer|pointer|8 bytes)"
    assert re.fullmatch(
        rf"<Kernel name='saxpy' parameters=\((float32|4 bytes), {long}, {long}, {long}\) "
        rf"handle={kernel.handle:#x}>",
        repr(kernel),
    )
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
    kernel = module.get_kernel("saxpy")
    attributes = kernel.attributes
    assert repr(attributes) == "<KernelAttributes kernel='saxpy'>"
    assert repr(attributes[0]) == "<KernelAttributes kernel='saxpy' device=0>"
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


def test_attributes_can_be_set(module, device):
    attributes = module.get_kernel("saxpy").attributes
    attributes.max_dynamic_shared_size_bytes = 1024
    assert attributes.max_dynamic_shared_size_bytes == 1024
    attributes[device].preferred_shared_memory_carveout = 50
    assert attributes.preferred_shared_memory_carveout == 50
    attributes.preferred_shared_memory_carveout = -1
    limit = device.properties.max_shared_memory_per_block_optin
    with pytest.raises(ValueError, match=f"max_dynamic_shared_size_bytes is .* 0 to {limit}"):
        attributes.max_dynamic_shared_size_bytes = limit + 1
    wrong_ones = ((None, TypeError), ("1", TypeError), (1.5, TypeError), (2**40, ValueError))
    for wrong, error in wrong_ones:
        with pytest.raises(error, match="max_dynamic_shared_size_bytes"):
            attributes.max_dynamic_shared_size_bytes = wrong
    with pytest.raises(AttributeError):
        attributes.num_regs = 8
    with pytest.raises(RuntimeError, match=r"Kernel\.attributes"):
        type(attributes)()


def test_attributes_about_clusters(module):
    attributes = module.get_kernel("saxpy").attributes
    assert attributes.cluster_size_must_be_set is False
    assert attributes.non_portable_cluster_size_allowed is False
    assert attributes.cache_mode_ca in (True, False)
    assert attributes.required_cluster_width == 0
    assert attributes.required_cluster_height == 0
    assert attributes.required_cluster_depth == 0
    assert attributes.cluster_scheduling_policy_preference in (0, 1, 2)


def test_the_occupancy_object_is_made_once_and_goes_with_the_kernel(module, device):
    kernel = cuprum.Kernel.from_handle(module.get_kernel("empty").handle)
    occupancy = kernel.occupancy
    assert kernel.occupancy is occupancy
    blocks = occupancy.max_active_blocks_per_multiprocessor(256, 0)
    kernel.close()
    with pytest.raises(RuntimeError, match="closed"):
        _ = kernel.occupancy
    assert occupancy.max_active_blocks_per_multiprocessor(256, 0) == blocks
    freed = weakref.ref(kernel)
    del kernel
    assert freed() is None


def test_occupancy(module, device):
    occupancy = module.get_kernel("empty").occupancy
    assert occupancy.max_active_blocks_per_multiprocessor(256, 0) >= 1
    with pytest.raises(ValueError, match="dynamic_shared_memory_size must be at least 0"):
        occupancy.max_active_blocks_per_multiprocessor(256, -1)
    with pytest.raises(ValueError, match="block_size is 0"):
        occupancy.max_active_blocks_per_multiprocessor(0, 0)
    assert occupancy.available_dynamic_shared_memory_per_block(1, 32) > 0
    with pytest.raises(RuntimeError, match=r"Kernel\.occupancy"):
        type(occupancy)()


def test_the_best_block_size(module, device):
    occupancy = module.get_kernel("empty").occupancy
    best = occupancy.max_potential_block_size(0, 0)
    assert best.max_block_size >= 32
    assert best.min_grid_size >= 1
    assert occupancy.max_potential_block_size(0, 64).max_block_size <= 64
    asked = []

    def needed(block_size):
        asked.append(block_size)
        return 0

    assert occupancy.max_potential_block_size(needed, 0) == best
    assert asked
    with pytest.raises(TypeError, match="a function of the block size"):
        occupancy.max_potential_block_size("much", 0)

    def broken(_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        occupancy.max_potential_block_size(broken, 0)


def test_a_function_of_nvidias_bindings_says_how_much_shared_memory_blocks_need(module, device):
    driver = pytest.importorskip("cuda.bindings.driver", reason="cuda-bindings is not installed")
    asked = []

    @ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)
    def needed(threads):
        asked.append(threads)
        return 0

    address = ctypes.cast(needed, ctypes.c_void_p).value
    occupancy = module.get_kernel("empty").occupancy
    best = occupancy.max_potential_block_size(0, 0)
    for function in (
        driver.CUoccupancyB2DSize(_ptr=address),
        driver.CUoccupancyB2DSize(init_value=address),
    ):
        asked.clear()
        assert occupancy.max_potential_block_size(function, 0) == best
        assert asked


def test_clusters_that_fit(module, device, stream):
    if device.compute_capability < (9, 0):
        pytest.skip("the device has no clusters")
    occupancy = module.get_kernel("empty").occupancy
    config = cuprum.LaunchConfig(grid=1, cluster=2, block=32)
    assert occupancy.max_active_clusters(config, stream=stream) >= 1
    assert occupancy.max_potential_cluster_size(config, stream=stream) >= 2
    with pytest.raises(TypeError, match=r"stream .* None"):
        occupancy.max_active_clusters(config, stream=None)


def test_a_kernel_from_its_handle(module, compiled, stream):
    kernel = cuprum.ObjectCode.from_cubin(compiled[0]).get_kernel("empty")
    wrapped = cuprum.Kernel.from_handle(kernel.handle)
    assert wrapped == kernel
    assert wrapped.name == "empty"
    kernel.close()
    cuprum.launch(stream, cuprum.LaunchConfig(grid=1, block=1), wrapped)
    stream.sync()
    with pytest.warns(UserWarning, match="does not match"):
        cuprum.Kernel.from_handle(wrapped.handle, module)
    for bad in ("1", 1.5, None):
        with pytest.raises(TypeError, match="handle must be an int"):
            cuprum.Kernel.from_handle(bad)
    with pytest.raises(TypeError, match="mod must be an ObjectCode"):
        cuprum.Kernel.from_handle(wrapped.handle, mod="code")


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
