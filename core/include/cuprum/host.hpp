// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <optional>

namespace cuprum {

/// Names the host as a place for memory: as a whole, one of its NUMA nodes, or the node of the
/// calling thread. A plain value.
class CUPRUM_API Host {
public:
    /// Names the host as a whole.
    constexpr Host() = default;
    /// Names one NUMA node.
    /// @throws std::invalid_argument if the number is negative.
    explicit Host(int numa_id);
    /// Names the NUMA node that the calling thread runs on when it is used.
    [[nodiscard]] static Host numa_current() noexcept;

    /// Returns the NUMA node, nothing if no single one is named.
    [[nodiscard]] std::optional<int> numa_id() const noexcept { return numa_id_; }

    /// Tells whether the calling thread's node is meant.
    [[nodiscard]] bool is_numa_current() const noexcept { return is_numa_current_; }

    friend bool operator==(const Host&, const Host&) = default;

private:
    std::optional<int> numa_id_;
    bool is_numa_current_ = false;
};

} // namespace cuprum
