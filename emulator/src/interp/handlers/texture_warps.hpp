// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A fetch for some warps, one after the other, from their registers to their registers.

#pragma once

#include "interp/handlers/texture_samples.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace texels {

/// What a fetch reads.
enum class Source : std::uint8_t {
    Line,
    Plane,
    Layers, // of planes
    Level,  // of a plane, as an operand says
    Volume,
    List, // linear memory, by index; everything outside is zero
};

[[nodiscard]] constexpr unsigned axes_of(Source source) {
    return source == Source::Volume ? 3 : source == Source::Line || source == Source::List ? 1 : 2;
}

// ---- fetches -----------------------------------------------------------------------------------

/// A register in the first of some warps, and the distance to that of the next warp.
struct Register {
    const std::byte* at = nullptr;
    std::size_t step = 0;

    void advance() { at += step; }
};

/// The registers of a fetch in the first of some warps.
struct Registers {
    Register coordinates[3];
    Register choice;            // the layer or the level
    std::byte* results[4] = {}; // null: not used
    std::size_t step = 0;       // of the results

    void advance() {
        for (Register& each : coordinates) {
            each.advance();
        }
        choice.advance();
        for (std::byte*& each : results) {
            each = each == nullptr ? nullptr : each + step;
        }
    }
};

/// Writes the lanes of a chunk of a result.
[[gnu::always_inline]] inline void write(std::byte* to, unsigned chunk, Words value,
                                         std::uint32_t mask) {
    if (to == nullptr) {
        return;
    }
    if (mask == FULL_MASK) [[likely]] {
        store<std::uint32_t>(to, chunk, value);
    } else {
        store_masked<std::uint32_t>(to, chunk, value, mask);
    }
}

/// Returns whether a register has the same bits in all lanes.
[[gnu::always_inline]] inline bool is_uniform(const std::byte* from) {
    const auto first = load<std::uint32_t>(from, 0);
    const Words all = broadcast<std::uint32_t>(first[0]);
    Words difference = first ^ all;
    for (unsigned chunk = 1; chunk < CHUNKS<float>; ++chunk) {
        difference |= load<std::uint32_t>(from, chunk) ^ all;
    }
    return is_zero(reinterpret_cast<Ints>(difference));
}

/// Finds the rows or slices of coordinates, which are `distance` bytes apart. Returns the lanes
/// whose coordinate is too large for this way.
template <Addressing ADDRESSING, bool IS_LINEAR>
[[gnu::always_inline]] inline std::uint32_t
find_rows(const PlaneView& view, unsigned index, Floats at, std::uint64_t distance, Rows& rows) {
    Axis axis;
    const std::uint32_t missed = find<ADDRESSING, IS_LINEAR>(view, index, at, axis);
    for (unsigned i = 0; i < (IS_LINEAR ? 2 : 1); ++i) {
        rows.places[i] = reinterpret_cast<Words>(axis.at[i]) * static_cast<std::uint32_t>(distance);
        rows.is_outside[i] = axis.is_outside[i];
    }
    rows.fraction = axis.fraction;
    return missed;
}

/// Finds the rows of a chunk in all slices.
template <Source SOURCE, Addressing ADDRESSING, bool IS_LINEAR, unsigned SLICES>
[[gnu::always_inline]] inline std::uint32_t find_slices(const PlaneView& view,
                                                        const Registers& registers, unsigned chunk,
                                                        Slice (&slices)[SLICES]) {
    // A line is a plane of one row, and its points lie on the edge of that row.
    const Floats y =
        SOURCE == Source::Line ? Floats{} : load<float>(registers.coordinates[1].at, chunk);
    Rows rows;
    std::uint32_t missed = find_rows<ADDRESSING, IS_LINEAR>(view, 1, y, view.pitch_bytes, rows);
    if constexpr (SOURCE != Source::Volume) {
        slices[0].rows = rows;
        return missed;
    }
    const Floats z = load<float>(registers.coordinates[2].at, chunk);
    Rows depths;
    missed |= find_rows<ADDRESSING, IS_LINEAR>(view, 2, z, view.slice_bytes, depths);
    for (unsigned i = 0; i < SLICES; ++i) {
        slices[i].rows = rows;
        slices[i].weight = i == 0 ? ONE - depths.fraction : depths.fraction;
        for (unsigned row = 0; row < (IS_LINEAR ? 2 : 1); ++row) {
            slices[i].rows.places[row] += depths.places[i];
            slices[i].rows.is_outside[row] |= depths.is_outside[i];
        }
    }
    return missed;
}

/// Finds texels by index.
[[gnu::always_inline]] inline Axis find_listed(const PlaneView& view, Words index) {
    const auto is_inside = reinterpret_cast<Ints>(index < view.sizes[0]);
    Axis x;
    x.at[0] = reinterpret_cast<Ints>(index) & is_inside;
    x.is_outside[0] = ~is_inside;
    return x;
}

/// Fetches for some warps, or until one has lanes that must be fetched in another way. Returns
/// these lanes. `registers` are then those of this warp, and `count` is the number of warps from it
/// on. The coordinates of these lanes are unchanged, even if the results go to the same registers.
template <Source SOURCE, Addressing ADDRESSING, bool IS_LINEAR, Texels TEXELS>
[[gnu::noinline]] std::uint32_t sample_warps(const PlaneView& shared_view,
                                             Registers& shared_registers, unsigned& count,
                                             std::uint32_t mask) {
    // Copies, which stores to registers cannot change.
    const PlaneView view = shared_view;
    Registers registers = shared_registers;
    const unsigned channels = channels_of<TEXELS>(view);
    Slice slices[SOURCE == Source::Volume && IS_LINEAR ? 2 : 1];
    std::uint32_t left = 0;
    for (; count != 0; --count) {
        // Most often, a warp is in one row.
        bool shares_rows = true;
        for (unsigned axis = 1; axis < axes_of(SOURCE); ++axis) {
            shares_rows = shares_rows && is_uniform(registers.coordinates[axis].at);
        }
        std::uint32_t missed_row = 0;
        if (shares_rows && SOURCE != Source::List) {
            missed_row = find_slices<SOURCE, ADDRESSING, IS_LINEAR>(view, registers, 0, slices);
        }
        for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
            Words results[4];
            for (Words& each : results) { // not as an initialiser, for which g++ calls memset
                each = Words{};
            }
            const std::byte* const across = registers.coordinates[0].at;
            std::uint32_t missed = 0;
            Axis x;
            if constexpr (SOURCE == Source::List) {
                x = find_listed(view, load<std::uint32_t>(across, chunk));
            } else {
                missed = find<ADDRESSING, IS_LINEAR>(view, 0, load<float>(across, chunk), x);
            }
            if (!shares_rows) {
                missed_row =
                    find_slices<SOURCE, ADDRESSING, IS_LINEAR>(view, registers, chunk, slices);
            }
            missed |= missed_row;
            if constexpr (IS_LINEAR) {
                sample_filtered<ADDRESSING, TEXELS>(view, x, slices, shares_rows, results, missed);
            } else {
                sample_points<ADDRESSING, TEXELS>(view, x, slices[0].rows, shares_rows, results);
            }
            const std::uint32_t lanes = CHUNK_MASK << chunk * CHUNK_LANES & mask;
            if ((missed << chunk * CHUNK_LANES & lanes) != 0) [[unlikely]] {
                left |= lanes;
                continue;
            }
            for (unsigned channel = 0; channel < channels; ++channel) {
                write(registers.results[channel], chunk, results[channel], mask);
            }
        }
        for (unsigned channel = channels; channel < 4; ++channel) {
            for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
                write(registers.results[channel], chunk, Words{}, mask & ~left);
            }
        }
        if (left != 0) [[unlikely]] {
            break;
        }
        registers.advance();
    }
    shared_registers = registers;
    return left;
}

} // namespace texels

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
