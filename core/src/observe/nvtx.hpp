// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Ranges for NVIDIA's profilers, through NVTX.

#pragma once

#include <string_view>

namespace cuprum::trace {

/// Starts to mark driver calls and ranges. Warns if the library was built without NVTX's headers.
void start_nvtx();

/// Returns whether ranges are marked.
[[nodiscard]] bool is_nvtx_on() noexcept;

/// Begins and ends a range of the calling thread; nothing happens while NVTX is off.
void push_nvtx(std::string_view name);
void pop_nvtx();

} // namespace cuprum::trace
