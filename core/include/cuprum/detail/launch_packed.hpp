// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The launch in two halves, for bindings: a configuration is checked and encoded once, and the
// arguments were checked against the kernel's plan while they were packed.

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/launch_config.hpp>

#include <memory>

namespace cuprum {

class Kernel;
class Stream;

namespace detail {

/// Checks a configuration and encodes it.
/// @throws std::invalid_argument if a value is out of its range, ClosedError for a closed event.
[[nodiscard]] CUPRUM_API std::shared_ptr<const EncodedConfig> encode(const LaunchConfig& config);

/// Launches a kernel with arguments at `addresses`, as many and as large as its plan says: that is
/// not checked again. `encoded` is `config`, encoded.
CUPRUM_API void launch_packed(const Stream& stream, const LaunchConfig& config,
                              const EncodedConfig& encoded, const Kernel& kernel,
                              void* const* addresses);

} // namespace detail

} // namespace cuprum
