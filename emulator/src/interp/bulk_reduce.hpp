// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "interp/bulk_copy.hpp"
#include "ptx/tree.hpp"

#include <cstddef>

namespace cuprum::emulator {

/// Combines each element at `to` with the one at `from`, atomically per element, as
/// cp.reduce.async.bulk does. The caller has checked that operation and type fit. If `flushes`, the
/// addition of F32 takes subnormal numbers as 0.
void combine_elements(bulk_copy::Operation operation, ptx::Type type, std::byte* to,
                      const std::byte* from, std::size_t bytes, bool flushes = true);

} // namespace cuprum::emulator
