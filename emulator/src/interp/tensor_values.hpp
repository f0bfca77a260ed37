// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What tensor copies do with the values of elements.

#pragma once

#include "interp/bulk_copy.hpp"
#include "interp/tensor_map.hpp"
#include "ptx/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cuprum::emulator {

/// Returns what a load writes for elements outside the tensor, repeated to 8 bytes.
[[nodiscard]] std::uint64_t fill_of(const TensorMap& map);

/// Changes elements in place.
using Conversion = void (*)(std::byte* elements, std::size_t bytes);

/// Returns how a load changes elements of a type; nullptr if it does not.
[[nodiscard]] Conversion conversion_of(TensorElement element);

/// How elements are combined.
struct Reduction {
    ptx::Type type = ptx::Type::None;
    bool flushes = false; // F32: subnormal numbers count as 0
};

/// Returns how a reduction combines elements of a type; none if there is no such reduction.
[[nodiscard]] std::optional<Reduction> reduction_of(bulk_copy::Operation operation,
                                                    TensorElement element);

} // namespace cuprum::emulator
