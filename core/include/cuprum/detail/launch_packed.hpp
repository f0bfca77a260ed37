// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The launch in two halves, for bindings: a configuration is checked and encoded once, and the
// arguments were checked against the kernel's plan while they were packed.

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// As cuda.h declares them.
struct CUlaunchConfig_st;    // NOLINT(readability-identifier-naming)
struct CUlaunchAttribute_st; // NOLINT(readability-identifier-naming)

namespace cuprum {

class Stream;

namespace detail {

/// Checks a configuration and writes it as the driver takes it, without a stream. What attributes
/// it has become those of `attributes`, to which `encoded` refers: keep the two together.
/// @throws std::invalid_argument if a value is out of its range, ClosedError for a closed event.
CUPRUM_API void encode(const LaunchConfig& config, CUlaunchConfig_st& encoded,
                       std::vector<CUlaunchAttribute_st>& attributes);

/// Launches a kernel with arguments at `addresses`, as many and as large as its plan says: that is
/// not checked again. `encoded` is `config`, encoded.
CUPRUM_API void launch_packed(const Stream& stream, const LaunchConfig& config,
                              const CUlaunchConfig_st& encoded, const Kernel& kernel,
                              void* const* addresses);

/// Describes a wrong number of arguments. Errors of both languages show this text.
[[nodiscard, gnu::cold]] CUPRUM_API std::string
wrong_count_text(std::string_view kernel, std::span<const ParameterInfo> plan, std::size_t given);

} // namespace detail

} // namespace cuprum
