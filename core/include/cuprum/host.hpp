// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <optional>

namespace cuprum {

/// The host as a place for memory: the whole host, one NUMA node, or the calling thread's node. A
/// plain value.
///
/// @code
/// const cuprum::Host anywhere;
/// const cuprum::Host node(0);
/// const auto place = cuprum::Location::host(node);
/// @endcode
class CUPRUM_API Host {
public:
    /// Selects the whole host.
    constexpr Host() = default;
    /// Selects one NUMA node.
    /// @throws std::invalid_argument if the number is negative.
    explicit Host(int numa_id);
    /// Selects the NUMA node that the calling thread runs on when the value is used.
    [[nodiscard]] static Host numa_current() noexcept;

    /// Returns the NUMA node, or nothing if the value does not select a fixed node.
    [[nodiscard]] std::optional<int> numa_id() const noexcept { return numa_id_; }

    /// Returns whether the value selects the calling thread's node.
    [[nodiscard]] bool is_numa_current() const noexcept { return is_numa_current_; }

    friend bool operator==(const Host&, const Host&) = default;

private:
    std::optional<int> numa_id_;
    bool is_numa_current_ = false;
};

} // namespace cuprum
