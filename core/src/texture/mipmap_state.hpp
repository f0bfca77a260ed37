// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/context_state.hpp"
#include "driver/handle.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/texture/mipmapped_array.hpp>

#include <cuda.h>

#include <atomic>
#include <memory>
#include <utility>

namespace cuprum::detail {

/// A driver's mipmapped array, its context and its description. Destroying the state destroys the
/// array with all levels if it is ours.
struct MipmapState {
    CUmipmappedArray handle = nullptr;
    std::shared_ptr<ContextState> context;
    unsigned made_at = 0; // the context's count of resets when it was made
    unsigned num_levels = 0;
    bool is_owned = false;
    const std::atomic<bool>* withdrawal = nullptr; // a flag of the owner, see end_with()
    CUDA_ARRAY3D_DESCRIPTOR description{};         // of level 0
    const ArrayFormatInfo* format = nullptr;
    std::shared_ptr<void> owner; // of an array that is not ours: what keeps it alive

    explicit MipmapState(std::shared_ptr<ContextState> home) noexcept
        : context(std::move(home)), made_at(context->reset_count.load(std::memory_order_relaxed)) {}

    ~MipmapState();
    MipmapState(const MipmapState&) = delete;
    MipmapState& operator=(const MipmapState&) = delete;

    [[nodiscard]] bool is_lost() const noexcept { return !is_intact(context, made_at); }

    [[nodiscard]] bool has_flag(unsigned flag) const noexcept {
        return (description.Flags & flag) != 0;
    }

    /// Returns whether the owner took the array back.
    [[nodiscard]] bool is_withdrawn() const noexcept {
        return withdrawal != nullptr && withdrawal->load(std::memory_order_relaxed);
    }
};

/// Returns the state of a mipmapped array, to use it.
/// @throws ClosedError if the array is closed, withdrawn, or destroyed by a device reset.
[[nodiscard]] MipmapState& open(const MipmappedArray& array);

/// Lets a wrapped mipmapped array and its levels end with its owner: see end_with() of an
/// OpaqueArray.
inline void end_with(const MipmappedArray& array, const std::atomic<bool>& is_over) noexcept {
    Access::state(array)->withdrawal = &is_over;
}

} // namespace cuprum::detail
