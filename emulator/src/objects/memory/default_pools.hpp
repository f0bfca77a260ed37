// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/memory/pool.hpp"

#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace cuprum::emulator {

/// The default and the current pool of every location and type of memory.
///
/// A device's pinned memory is kept by the device itself; the rest is made here when asked for.
class DefaultPools {
public:
    /// Returns the process's default pools; never destroyed.
    [[nodiscard]] static DefaultPools& instance();

    /// Returns the pool that a location has without asking.
    [[nodiscard]] std::shared_ptr<Pool> default_pool(const CUmemLocation& location,
                                                     CUmemAllocationType type);

    /// Returns the pool in use for a location.
    [[nodiscard]] std::shared_ptr<Pool> current(const CUmemLocation& location,
                                                CUmemAllocationType type);

    /// Puts a pool to use; throws INVALID_VALUE if it is of other memory.
    void set_current(const CUmemLocation& location, CUmemAllocationType type,
                     std::shared_ptr<Pool> pool);

    /// Returns to the default pool where a destroyed one was in use.
    void forget(const Pool& pool);

private:
    using Key = std::tuple<CUmemLocationType, int, CUmemAllocationType>;

    [[nodiscard]] static Key key_of(const CUmemLocation& location, CUmemAllocationType type);

    std::mutex mutex_;
    std::map<Key, std::shared_ptr<Pool>> defaults_;
    std::map<Key, std::shared_ptr<Pool>> current_;
};

} // namespace cuprum::emulator
