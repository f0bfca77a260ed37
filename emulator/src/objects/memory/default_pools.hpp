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
/// A device keeps its own default pool. The others are created here on first use.
class DefaultPools {
public:
    /// Returns the process's default pools; never destroyed.
    [[nodiscard]] static DefaultPools& instance();

    /// Returns the default pool of a location.
    [[nodiscard]] std::shared_ptr<Pool> default_pool(const CUmemLocation& location,
                                                     CUmemAllocationType type);

    /// Returns the current pool of a location.
    [[nodiscard]] std::shared_ptr<Pool> current(const CUmemLocation& location,
                                                CUmemAllocationType type);

    /// Sets the current pool. Throws INVALID_VALUE if the pool has other memory.
    void set_current(const CUmemLocation& location, CUmemAllocationType type,
                     std::shared_ptr<Pool> pool);

    /// Sets the default pool as current wherever a destroyed pool was.
    void forget(const Pool& pool);

private:
    using Key = std::tuple<CUmemLocationType, int, CUmemAllocationType>;

    [[nodiscard]] static Key key_of(const CUmemLocation& location, CUmemAllocationType type);

    std::mutex mutex_;
    std::map<Key, std::shared_ptr<Pool>> defaults_;
    std::map<Key, std::shared_ptr<Pool>> current_;
};

} // namespace cuprum::emulator
