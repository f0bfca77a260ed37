// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// All differences between Cuprum and cuda.core that cuprum.drop_in turns off in compiled code.
//
// One switch, follow_reference(), turns them off together. Bindings ask the questions below; none
// of them looks at the switch itself. docs/drop_in.md lists the differences for users.

#pragma once

#include "support/hot_data.hpp"

#include <cuprum/device.hpp>

#include <nanobind/nanobind.h>

#include <atomic>

namespace cuprum {
class Device;
} // namespace cuprum

namespace cuprum::python::compatibility {

namespace nb = nanobind;

/// Returns whether objects behave as those of cuda.core where the two differ.
[[nodiscard]] inline bool follows_reference() noexcept {
    return hot_data.follows_reference.load(std::memory_order_relaxed);
}

// ---- what differs ------------------------------------------------------------------------------

/// An attribute that the driver does not know reads as 0 instead of raising.
[[nodiscard]] inline bool reads_unknown_attributes_as_zero() noexcept {
    return follows_reference();
}

/// Only green contexts create streams.
[[nodiscard]] inline bool creates_streams_in_green_contexts_only() noexcept {
    return follows_reference();
}

/// Caching a program whose options name files needs `extra_digest`.
[[nodiscard]] inline bool needs_extra_digest_for_files() noexcept {
    return follows_reference();
}

/// Consumers of DLPack before 1.0 get read-only memory too, although it cannot say so.
[[nodiscard]] inline bool exports_readonly_memory_unmarked() noexcept {
    return follows_reference();
}

/// The error about `dl_device` is only the sentence that cuda.core has.
[[nodiscard]] inline bool keeps_dlpack_errors_short() noexcept {
    return follows_reference();
}

/// `repr` of a buffer or kernel shows only what cuda.core shows.
[[nodiscard]] inline bool keeps_reprs_short() noexcept {
    return follows_reference();
}

/// `from_array_interface` names the current device, and records lose their fields.
[[nodiscard]] inline bool reads_array_interface_literally() noexcept {
    return follows_reference();
}

/// The memory of a process that the driver does not tell reads as the largest number.
[[nodiscard]] inline bool reads_unknown_memory_as_number() noexcept {
    return follows_reference();
}

/// A negative size of a graph node is an OverflowError instead of a ValueError.
[[nodiscard]] inline bool calls_negative_sizes_overflow() noexcept {
    return follows_reference();
}

/// Code whose handle was given away stays loaded: programs unload it themselves, or never.
[[nodiscard]] inline bool leaves_code_loaded() noexcept {
    return follows_reference();
}

[[noreturn, gnu::cold]] void raise_never_current(const Device& device);

/// A device must be made current, on any thread, before it is used.
/// @throws CUDAError if it was not.
inline void check_set_current(const Device& device, const std::atomic<bool>& was_made_current) {
    if (follows_reference() && !was_made_current.load(std::memory_order_relaxed)) [[unlikely]] {
        raise_never_current(device);
    }
}

void bind(nb::module_& module);

} // namespace cuprum::python::compatibility
