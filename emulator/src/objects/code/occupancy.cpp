// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/occupancy.hpp"

#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"

#include <algorithm>

namespace cuprum::emulator {

namespace {

constexpr int WARP_THREADS = 32;
constexpr int REGISTER_UNIT = 256; // registers are allocated to a warp in multiples of this
constexpr int SHARED_UNIT_BYTES = 128;

int round_up(int value, int step) {
    return (value + step - 1) / step * step;
}

int shared_per_block(const Function& function, const Device& device,
                     std::size_t dynamic_shared_bytes) {
    return round_up(
        static_cast<int>(function.kernel()->static_shared_bytes + dynamic_shared_bytes) +
            device.attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
        SHARED_UNIT_BYTES);
}

/// Returns the limit that threads, registers and block slots set.
int blocks_without_shared(const Function& function, const Device& device, int block_threads) {
    const int warps = (block_threads + WARP_THREADS - 1) / WARP_THREADS;
    const int sm_warps =
        device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / WARP_THREADS;
    int blocks = std::min(device.attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
                          sm_warps / warps);
    const int registers = static_cast<int>(function.kernel()->register_count);
    if (registers != 0) {
        const int per_warp = round_up(registers * WARP_THREADS, REGISTER_UNIT);
        const int sm_registers =
            device.attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
        // The register count is an estimate, because PTX does not fix it. It must never forbid a
        // launch.
        blocks = std::min(blocks, std::max(1, sm_registers / per_warp / warps));
    }
    return blocks;
}

} // namespace

int active_blocks_per_sm(Function& function, const Device& device, int block_threads,
                         std::size_t dynamic_shared_bytes) {
    require(block_threads > 0, "the block size must be positive");
    const auto& kernel = *function.kernel();
    const int thread_limit =
        function.attributes().get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, device);
    const auto optin_bytes = static_cast<std::size_t>(
        device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    if (block_threads > thread_limit || dynamic_shared_bytes > optin_bytes ||
        kernel.static_shared_bytes > optin_bytes - dynamic_shared_bytes) {
        return 0;
    }
    const int shared = shared_per_block(function, device, dynamic_shared_bytes);
    const int sm_shared =
        device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    const int by_shared = shared == 0 ? 1 << 16 : sm_shared / shared;
    return std::min(blocks_without_shared(function, device, block_threads), by_shared);
}

std::size_t available_shared_bytes(Function& function, const Device& device, int block_count,
                                   int block_threads) {
    require(block_count > 0 && block_threads > 0, "numBlocks and blockSize must be positive");
    require(block_threads <= device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
            "the block is larger than the device allows");
    require(blocks_without_shared(function, device, block_threads) >= block_count,
            "numBlocks blocks do not fit on a multiprocessor, even without shared memory");
    const int per_block =
        device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / block_count /
        SHARED_UNIT_BYTES * SHARED_UNIT_BYTES;
    const int most =
        std::min(per_block - device.attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
                 device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    // A launch may not use more than the function's own limit, even if more would fit.
    const int allowed = function.attributes().get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                  *function.kernel(), device);
    return static_cast<std::size_t>(std::clamp(
        most - static_cast<int>(function.kernel()->static_shared_bytes), 0, std::max(0, allowed)));
}

int max_cluster_blocks(Function& function, const Device& device) {
    constexpr int portable_blocks = 8;
    constexpr int most_blocks = 16;
    if (device.attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 0) {
        return 1;
    }
    const bool may_be_large =
        function.attributes().get(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
                                  *function.kernel(), device) != 0;
    return may_be_large ? most_blocks : portable_blocks;
}

BlockSizeAdvice advise_block_size(Function& function, const Device& device,
                                  CUoccupancyB2DSize shared_bytes_for,
                                  std::size_t dynamic_shared_bytes, int block_threads_limit) {
    const int kernel_limit = function.attributes().get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                                       *function.kernel(), device);
    const int limit =
        block_threads_limit > 0 ? std::min(block_threads_limit, kernel_limit) : kernel_limit;
    BlockSizeAdvice advice;
    int best_threads = 0;
    // From large to small, so that the largest of equally good sizes is chosen.
    for (int aligned = round_up(limit, WARP_THREADS); aligned > 0; aligned -= WARP_THREADS) {
        const int threads = std::min(limit, aligned);
        const std::size_t shared =
            shared_bytes_for != nullptr ? shared_bytes_for(threads) : dynamic_shared_bytes;
        const int blocks = active_blocks_per_sm(function, device, threads, shared);
        if (blocks * threads > best_threads) {
            best_threads = blocks * threads;
            advice.block_threads = threads;
            advice.min_grid_blocks = blocks * static_cast<int>(device.sm_count());
        }
    }
    return advice;
}

} // namespace cuprum::emulator
