// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies of boxes of bytes. Regions of buffers, strided copies and copies of arrays end here.
//
// A copy has two sides, and each side is one kind of memory: see CopySide. A further kind takes
// three steps: add a struct, add it to CopySide, and add an overload of describe() in
// copies.cpp. Copies between two sides of linear memory keep their shorter driver calls; every
// other pair is one cuMemcpy3DAsync.

#pragma once

#include "driver/call.hpp"

#include <cuprum/region.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

namespace cuprum::detail {

/// The CUDA version with batches of copies, prefetches and discards.
constexpr int BATCH_VERSION = 13000;

/// A box in memory that has an address for devices: of a device, managed, pinned or registered.
struct LinearMemory {
    CUdeviceptr address = 0;
    std::size_t pitch = 0;       // bytes from row to row
    std::size_t slice_pitch = 0; // bytes from slice to slice, a multiple of `pitch`
};

/// A box in host memory that no device needs to know.
struct HostMemory {
    void* address = nullptr;
    std::size_t pitch = 0;       // bytes from row to row
    std::size_t slice_pitch = 0; // bytes from slice to slice, a multiple of `pitch`
};

/// A box in an opaque array, by its first byte, row and slice or layer.
struct ArrayMemory {
    CUarray array = nullptr;
    std::size_t x = 0; // bytes
    std::size_t y = 0;
    std::size_t z = 0;
};

/// One side of a copy.
using CopySide = std::variant<LinearMemory, HostMemory, ArrayMemory>;

/// What the driver takes for one side of a copy. Its structure has the same members twice.
struct SideDescription {
    CUmemorytype type = CU_MEMORYTYPE_UNIFIED;
    CUdeviceptr device = 0;
    void* host = nullptr;
    std::size_t pitch = 0;
    std::size_t rows_per_slice = 0;
    CUarray array = nullptr;
    std::size_t x = 0; // bytes
    std::size_t y = 0;
    std::size_t z = 0;
};

/// Returns a copy as the driver takes it.
[[nodiscard]] CUDA_MEMCPY3D description_of(const SideDescription& destination,
                                           const SideDescription& source,
                                           const RegionExtent& extent);

/// Rows in a piece of memory: see RegionPlace.
struct PlacedRows {
    std::size_t offset = 0;      // bytes
    std::size_t pitch = 0;       // bytes from row to row
    std::size_t slice_pitch = 0; // bytes from slice to slice
    std::size_t span = 0;        // bytes from the first to the last one
};

/// Finds the rows of a box in `size` bytes of memory; `what` names the side in messages, `holder`
/// the memory.
/// @throws std::invalid_argument if rows or slices overlap, or the box does not lie in the memory.
[[nodiscard]] PlacedRows place_rows(std::size_t size, const RegionPlace& place,
                                    const RegionExtent& extent, const std::string& what,
                                    const char* holder = "the buffer");

/// The largest pitch that the driver takes.
inline constexpr std::size_t MAX_PITCH_BYTES = 0x7fffffff;

/// Copies a box in one driver call. The stream's context must be current. Checks pitches only.
/// @throws std::invalid_argument if a side has rows further apart than MAX_PITCH_BYTES.
void copy_box(const CopySide& destination, const CopySide& source, const RegionExtent& extent,
              CUstream stream);

/// Copies between two sides of linear memory, as few bytes of description as possible.
void copy_linear(const LinearMemory& destination, const LinearMemory& source,
                 const RegionExtent& extent, CUstream stream);

/// Refuses rows further apart than the driver takes; `what` names the side in the message.
void check_pitch(std::size_t pitch, const char* what);

struct StreamState;

/// The devices of a copy.
struct DevicePair {
    int to = -1;
    int from = -1;
};

/// Returns the devices of a copy if they differ and set_peer_copies() allows copies that name both.
[[nodiscard]] std::optional<DevicePair> devices_between(CUdeviceptr destination,
                                                        CUdeviceptr source);

/// Copies a box between two devices after the driver refused the plain copy. Returns false if the
/// devices are not two, so that the driver had another reason.
[[nodiscard]] bool copy_between_devices(const LinearMemory& destination, const LinearMemory& source,
                                        const RegionExtent& extent, CUstream stream);

/// Throws for a fill that the driver refused. The text says so if the stream cannot reach the
/// memory.
[[noreturn, gnu::cold]] void raise_fill_failure(CUresult status, const char* call,
                                                CUdeviceptr memory, const StreamState& queue);

} // namespace cuprum::detail
