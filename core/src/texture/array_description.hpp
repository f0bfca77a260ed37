// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What options of arrays mean to the driver, and which limits of a device they meet.

#pragma once

#include "driver/table.hpp"

#include <cuprum/texture/opaque_array.hpp>

#include <cstddef>
#include <string>

namespace cuprum::detail {

struct DeviceState;

/// Checks that the options describe an array and returns them as the driver takes them.
/// @throws std::invalid_argument that names option, value and what was expected.
[[nodiscard]] CUDA_ARRAY3D_DESCRIPTOR description_of(const OpaqueArrayOptions& options);

/// Returns a description as options.
[[nodiscard]] OpaqueArrayOptions options_of(const CUDA_ARRAY3D_DESCRIPTOR& description);

/// Throws for an array that the driver did not make: names the limit of the device that the size
/// exceeds, if one does. `levels` is 0 unless it was to be mipmapped.
[[noreturn]] void raise_array_failure(CUresult status, const char* call,
                                      const CUDA_ARRAY3D_DESCRIPTOR& description, unsigned levels,
                                      DeviceState& device);

/// Returns the bytes that a copy of all elements takes; 0 for a format of several planes.
[[nodiscard]] std::size_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR& description);

/// Check that an array has what is asked for.
/// @throws std::invalid_argument that names the option.
void check_deferred(const CUDA_ARRAY3D_DESCRIPTOR& description);
void check_sparse(const CUDA_ARRAY3D_DESCRIPTOR& description);

/// Returns size, format, channels and layers for messages, "32 x 16 of float32 channels=1".
[[nodiscard]] std::string text_of(const CUDA_ARRAY3D_DESCRIPTOR& description);

[[nodiscard]] ArraySparseProperties sparse_properties_of(const CUDA_ARRAY_SPARSE_PROPERTIES& found);

} // namespace cuprum::detail
