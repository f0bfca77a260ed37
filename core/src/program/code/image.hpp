// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checks of code before the driver sees it.
//
// The driver takes a pointer without a size and trusts the sizes inside, so it would read beyond
// the end of a truncated file. nvJitLink takes a size and trusts the sizes inside nevertheless.

#pragma once

#include <cuprum/object_code.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace cuprum::detail {

/// Checks that code can be loaded and is complete. `what` names it in the message.
/// @throws CUDAError with CUDA_ERROR_INVALID_IMAGE.
void check_image(const std::string& what, CodeType type, std::span<const std::byte> code);

/// Checks that code to be linked is complete.
/// @throws std::invalid_argument that starts with `what`.
void check_link_input(const std::string& what, std::span<const std::byte> code);

/// Returns the architecture of a cubin, as in 90 for sm_90; 0 if the code is not a cubin.
[[nodiscard]] int cubin_architecture(std::span<const std::byte> code) noexcept;

} // namespace cuprum::detail
