// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The names of element types in messages.

#pragma once

#include <cuprum/dlpack.hpp>

#include <cstddef>
#include <string>

namespace cuprum::detail {

/// Returns the name of an element type, "float32", "4 x uint8". A type without bits is named after
/// the bytes of an element.
[[nodiscard]] std::string text_of(dlpack::DataType type, std::size_t itemsize);

} // namespace cuprum::detail
