// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace cuprum {

/// A number that conditional nodes of a graph test and kernels set with `cudaGraphSetConditional`.
///
/// `GraphDefinition::create_condition` makes one. Pass it to a kernel as it is: the kernel takes a
/// `cudaGraphConditionalHandle`. One condition serves one conditional node.
///
/// @code
/// const cuprum::GraphDefinition definition;
/// const cuprum::GraphCondition condition = definition.create_condition(1); // 1 at each launch
/// definition.if_then(condition).then().memset(buffer, 0, 1024);
/// @endcode
class GraphCondition {
public:
    /// Wraps a condition made elsewhere.
    [[nodiscard]] static constexpr GraphCondition from_handle(std::uint64_t handle) noexcept {
        return GraphCondition(handle);
    }

    /// Returns the driver's CUgraphConditionalHandle.
    [[nodiscard]] constexpr std::uint64_t handle() const noexcept { return handle_; }

    /// Converts to what kernels take.
    // NOLINTNEXTLINE(google-explicit-constructor): typed kernels take conditions as they are
    constexpr operator std::uint64_t() const noexcept { return handle_; }

    friend constexpr bool operator==(const GraphCondition&, const GraphCondition&) = default;

private:
    constexpr explicit GraphCondition(std::uint64_t handle) noexcept : handle_(handle) {}

    std::uint64_t handle_;
};

/// Returns the handle for messages and logs.
[[nodiscard]] CUPRUM_API std::string to_string(const GraphCondition& condition);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::GraphCondition> {
    [[nodiscard]] std::size_t operator()(const cuprum::GraphCondition& condition) const noexcept {
        return std::hash<std::uint64_t>()(condition.handle());
    }
};
