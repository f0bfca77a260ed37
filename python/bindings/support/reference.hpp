// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What Cuprum does otherwise on purpose, and cuprum.drop_in turns into what programs for cuda.core
// expect.

#pragma once

#include "support/objects.hpp"

#include <atomic>

namespace cuprum::python {

/// Whether objects behave as those of cuda.core where the two differ.
inline std::atomic<bool>& follows_reference = hot_data.follows_reference;

[[gnu::cold]] void remember_set_current(const PyDevice& device);

/// Remembers that a device was made current on the calling thread, if anybody will ask.
inline void note_set_current(const PyDevice& device) {
    if (follows_reference.load(std::memory_order_relaxed)) [[unlikely]] {
        remember_set_current(device);
    }
}

/// Forgets which devices were made current on the calling thread.
void forget_set_current() noexcept;

/// Raises CUDAError if a device was never made current on the calling thread.
void raise_unless_set_current(const PyDevice& device);

/// Checks, for programs that expect it, that a device was made current on the calling thread.
inline void check_set_current(const PyDevice& device) {
    if (follows_reference.load(std::memory_order_relaxed)) [[unlikely]] {
        raise_unless_set_current(device);
    }
}

void bind_reference(nb::module_& module);

} // namespace cuprum::python
