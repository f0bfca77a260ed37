// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/code/function.hpp"

#include <cuda.h>

#include <cstddef>

namespace cuprum::emulator {

class Device;

/// Returns how many blocks of a kernel fit on one multiprocessor at once, or 0.
[[nodiscard]] int active_blocks_per_sm(Function& function, const Device& device, int block_threads,
                                       std::size_t dynamic_shared_bytes);

/// Returns the largest dynamic shared memory with which `block_count` blocks fit on one
/// multiprocessor.
[[nodiscard]] std::size_t available_shared_bytes(Function& function, const Device& device,
                                                 int block_count, int block_threads);

/// Returns how many blocks a cluster of this kernel can have, or 1 if the device has no clusters.
[[nodiscard]] int max_cluster_blocks(Function& function, const Device& device);

/// The block size that keeps most threads busy, and the smallest grid that fills the device.
struct BlockSizeAdvice {
    int min_grid_blocks = 0;
    int block_threads = 0;
};

/// Finds the best block size. `shared_bytes_for` returns the dynamic shared memory for a block
/// size. If it is NULL, every size uses `dynamic_shared_bytes`.
[[nodiscard]] BlockSizeAdvice advise_block_size(Function& function, const Device& device,
                                                CUoccupancyB2DSize shared_bytes_for,
                                                std::size_t dynamic_shared_bytes,
                                                int block_threads_limit);

} // namespace cuprum::emulator
