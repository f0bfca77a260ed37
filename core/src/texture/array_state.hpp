// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arrays as textures, surfaces, copies and graphics see them.
//
// An array belongs to the context that it was made in. A device reset destroys both. Whatever uses
// an array holds a share of its state: levels and planes hold the state of the whole.

#pragma once

#include "device/context_state.hpp"
#include "driver/call.hpp"
#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "stream/deferred_release.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/texture/opaque_array.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace cuprum::detail {

/// A driver array, its context and its description. Destroying the state destroys the array if it
/// is ours.
struct ArrayState {
    CUarray handle = nullptr;
    std::shared_ptr<ContextState> context;
    unsigned made_at = 0; // the context's count of resets when it was made
    bool is_owned = false;
    const std::atomic<bool>* withdrawal = nullptr; // a flag of the owner, see end_with()
    CUDA_ARRAY3D_DESCRIPTOR description{};
    const ArrayFormatInfo* format = nullptr;
    std::shared_ptr<void> owner; // of an array that is not ours: what keeps it alive

    explicit ArrayState(std::shared_ptr<ContextState> home) noexcept
        : context(std::move(home)), made_at(context->reset_count.load(std::memory_order_relaxed)) {}

    ~ArrayState();
    ArrayState(const ArrayState&) = delete;
    ArrayState& operator=(const ArrayState&) = delete;

    [[nodiscard]] bool is_lost() const noexcept { return !is_intact(context, made_at); }

    [[nodiscard]] bool has_flag(unsigned flag) const noexcept {
        return (description.Flags & flag) != 0;
    }

    /// Returns whether the owner took the array back. Levels and planes share the whole's flag.
    [[nodiscard]] bool is_withdrawn() const noexcept {
        return withdrawal != nullptr && withdrawal->load(std::memory_order_relaxed);
    }

    /// Returns the bytes of an element, or of a block.
    [[nodiscard]] std::size_t element_bytes() const noexcept {
        return std::size_t{format->bytes} *
               (format->num_channels == 0 ? description.NumChannels : 1U);
    }
};

/// Returns the state of an array, to use it.
/// @throws ClosedError if the array is closed, withdrawn, or destroyed by a device reset.
[[nodiscard]] ArrayState& open(const OpaqueArray& array);

/// Lets a wrapped array end with its owner. Once `is_over` is true, using the array raises
/// ClosedError, and so do planes, textures and surfaces that were made of it. The owner that the
/// array keeps alive has the flag. For arrays that end before their shares do, such as those of a
/// mapped image. Call it before the program gets the array.
inline void end_with(const OpaqueArray& array, const std::atomic<bool>& is_over) noexcept {
    Access::state(array)->withdrawal = &is_over;
}

/// Wraps an array that something else owns. It belongs to `context`; `owner` stays alive with it.
/// @throws CUDAError if the driver does not know the array.
[[nodiscard]] OpaqueArray borrow_array(CUarray handle, std::shared_ptr<ContextState> context,
                                       std::shared_ptr<void> owner);

/// Releases an object of a context with the context current. Never ends a stream capture. Does
/// nothing if a reset destroyed the object.
template <typename Handle>
[[gnu::hot]] void release_in_context(const std::shared_ptr<ContextState>& context, unsigned made_at,
                                     const char* what, const driver::Entry<CUresult(Handle)>& entry,
                                     Handle handle) noexcept {
    // NOTE: handles of textures are small numbers that every context has. With another context
    // current, the call could destroy another texture. So a failed change is tried again.
    for (int attempts = 2; attempts > 0; --attempts) {
        if (!is_intact(context, made_at) || driver::is_leaving()) {
            return;
        }
        try {
            const driver::RelaxedCapture relaxed;
            const driver::Current current(context->handle);
            driver::release_now(what, entry, handle);
            return;
        } catch (...) {
            driver::report_release_failure(what);
        }
    }
}

/// Does the same in a destructor: later if the calling thread runs a host function.
template <typename Handle>
[[gnu::hot]] void release_with_context(const std::shared_ptr<ContextState>& context,
                                       unsigned made_at, const char* what,
                                       const driver::Entry<CUresult(Handle)>& entry,
                                       Handle handle) noexcept {
    if (!runs_host_function()) [[likely]] {
        release_in_context(context, made_at, what, entry, handle);
        return;
    }
    try {
        defer_release(
            std::shared_ptr<void>(nullptr, [context, made_at, what, &entry, handle](void*) {
                release_in_context(context, made_at, what, entry, handle);
            }));
    } catch (...) {
        driver::report_release_failure(what);
    }
}

} // namespace cuprum::detail
