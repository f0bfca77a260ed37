// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/host.hpp>

#include <stdexcept>
#include <string>

namespace cuprum {

Host::Host(int numa_id) : numa_id_(numa_id) {
    if (numa_id < 0) {
        throw std::invalid_argument("numa_id must be a non-negative int, got " +
                                    std::to_string(numa_id));
    }
}

Host Host::numa_current() noexcept {
    Host host;
    host.is_numa_current_ = true;
    return host;
}

} // namespace cuprum
