// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies and fills. The call checks the memory; the stream does the work later.

#pragma once

#include "objects/streams/stream.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace cuprum::emulator {

/// What an end of a copy must be.
enum class CopyEnd : std::uint8_t {
    Any,    // found by unified addressing
    Host,   // pageable, pinned or managed memory
    Device, // memory that the driver knows
    Array,  // an array: its memory, at an address that only the driver knows
};

/// One end of a copy of up to three dimensions.
struct CopySide {
    std::uint64_t address = 0;
    std::uint64_t pitch_bytes = 0; // between rows
    std::uint64_t slice_bytes = 0; // between slices
    CopyEnd end = CopyEnd::Any;
    CUarray array = nullptr;   // Array: where the address comes from
    std::uint64_t x_bytes = 0; // Array: where in it the copy begins
    std::uint64_t y = 0;
    std::uint64_t z = 0;
};

/// A copy of `depth` slices of `height` rows of `width_bytes`.
struct Copy {
    CopySide destination;
    CopySide source;
    std::uint64_t width_bytes = 0;
    std::uint64_t height = 1;
    std::uint64_t depth = 1;
    bool is_between_contexts = false; // names the contexts of both ends, so that no device needs
                                      // access to the other's memory
};

/// A fill of `height` rows of `width` elements.
struct Fill {
    std::uint64_t address = 0;
    std::uint64_t pitch_bytes = 0;
    std::uint32_t value = 0;
    std::uint32_t element_bytes = 1;
    std::uint64_t width = 0;
    std::uint64_t height = 1;
};

/// When a copy or a fill returns. CUDA documents this as "API synchronization behavior".
enum class CopyMode : std::uint8_t {
    Sync,   // when it is done, unless all of its memory is device memory without
            // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
    Async,  // at once if both ends allow it; pageable sources are staged. A copy from host memory
            // to host memory, or to pageable memory, returns when it is done
    Staged, // as Async, but every source is read before the call returns
};

/// Returns a plain copy of one dimension.
[[nodiscard]] Copy linear_copy(std::uint64_t destination, CopyEnd destination_end,
                               std::uint64_t source, CopyEnd source_end, std::uint64_t bytes);

/// Returns whether a copy or a fill moves no bytes.
[[nodiscard]] bool is_empty(const Copy& copy) noexcept;
[[nodiscard]] bool is_empty(const Fill& fill) noexcept;

/// Checks a copy or a fill as work of a device. Throws INVALID_VALUE if an end is not the required
/// kind of memory.
void check_work(const Copy& copy, int device);
void check_work(const Fill& fill, int device);

/// Checks a copy or a fill that is about to run: memory of graphs must be allocated too.
void check_before(const Copy& copy, int device);
void check_before(const Fill& fill, int device);

/// Does a copy or a fill that has been checked.
void perform(const Copy& copy);
void perform(const Fill& fill);

/// Returns whether the memory that a checked copy or fill uses is still there. Sets `lost` to the
/// first address that is not.
[[nodiscard]] bool is_still_there(const Copy& copy, std::uint64_t& lost);
[[nodiscard]] bool is_still_there(const Fill& fill, std::uint64_t& lost);

/// Returns whether the work is short enough to be done on any thread at once.
[[nodiscard]] bool is_quick(const Copy& copy) noexcept;
[[nodiscard]] bool is_quick(const Fill& fill) noexcept;

/// Checks a copy and enqueues it. Throws INVALID_VALUE if an end is not the required kind of
/// memory.
void enqueue_copy(Stream& stream, const Copy& copy, CopyMode mode);

/// Checks a fill and enqueues it.
void enqueue_fill(Stream& stream, const Fill& fill, CopyMode mode);

} // namespace cuprum::emulator
