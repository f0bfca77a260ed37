// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The most common texture fetches with vectors: points and linear filters of lines, planes,
// layers of planes and volumes. All other fetches take the way of interp/texture.cpp. Both give the
// same bits.
//
//   texture_axes.hpp      from coordinates to texels: address modes
//   texture_reads.hpp     reading the texels
//   texture_filters.hpp   the arithmetic of linear filters
//   texture_samples.hpp   from texels to results
//
// In lockstep, the texture is found once for all warps.

#include "interp/handlers/select.hpp"
#include "interp/handlers/texture_samples.hpp"
#include "interp/lockstep.hpp"
#include "interp/plane_view.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using texels::Addressing;
using texels::Axis;
using texels::CHUNK_LANES;
using texels::CHUNK_MASK;
using texels::Floats;
using texels::Ints;
using texels::Rows;
using texels::Slice;
using texels::Texels;
using texels::Words;

/// What a fetch reads.
enum class Source : std::uint8_t {
    Line,
    Plane,
    Layers, // of planes
    Volume,
    List, // linear memory, by index; everything outside is zero
};

constexpr unsigned axes_of(Source source) {
    return source == Source::Volume                              ? 3
           : source == Source::Plane || source == Source::Layers ? 2
                                                                 : 1;
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
    Register layer;
    std::byte* results[4] = {}; // null: not used
    std::size_t step = 0;       // of the results

    void advance() {
        for (Register& each : coordinates) {
            each.advance();
        }
        layer.advance();
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
    return texels::is_zero(reinterpret_cast<Ints>(difference));
}

/// Finds the rows or slices of coordinates, which are `distance` bytes apart. Returns the lanes
/// whose coordinate is too large for this way.
template <Addressing ADDRESSING, bool IS_LINEAR>
[[gnu::always_inline]] inline std::uint32_t
find_rows(const PlaneView& view, unsigned index, Floats at, std::uint64_t distance, Rows& rows) {
    Axis axis;
    const std::uint32_t missed = texels::find<ADDRESSING, IS_LINEAR>(view, index, at, axis);
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
        slices[i].weight = i == 0 ? texels::ONE - depths.fraction : depths.fraction;
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
    const unsigned channels = TEXELS == Texels::SingleWord ? 1 : view.channels;
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
                missed =
                    texels::find<ADDRESSING, IS_LINEAR>(view, 0, load<float>(across, chunk), x);
            }
            if (!shares_rows) {
                missed_row =
                    find_slices<SOURCE, ADDRESSING, IS_LINEAR>(view, registers, chunk, slices);
            }
            missed |= missed_row;
            if constexpr (IS_LINEAR) {
                texels::sample_filtered<ADDRESSING, TEXELS>(view, x, slices, shares_rows, results,
                                                            missed);
            } else {
                texels::sample_points<ADDRESSING, TEXELS>(view, x, slices[0].rows, shares_rows,
                                                          results);
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

/// Returns whether coordinates count texels and clamp.
bool is_plain(const PlaneView& view) {
    return !view.is_normalized && view.modes[0] == AxisMode::Clamp &&
           view.modes[1] == AxisMode::Clamp && view.modes[2] == AxisMode::Clamp;
}

using SampleWarps = std::uint32_t (*)(const PlaneView&, Registers&, unsigned&, std::uint32_t);

template <Source SOURCE, Texels TEXELS>
[[gnu::always_inline]] inline SampleWarps sampler_for(const PlaneView& view) {
    if constexpr (SOURCE == Source::List) {
        return sample_warps<SOURCE, Addressing::Any, false, TEXELS>;
    } else if (is_plain(view)) {
        return view.is_linear ? sample_warps<SOURCE, Addressing::Plain, true, TEXELS>
                              : sample_warps<SOURCE, Addressing::Plain, false, TEXELS>;
    } else {
        return view.is_linear ? sample_warps<SOURCE, Addressing::Any, true, TEXELS>
                              : sample_warps<SOURCE, Addressing::Any, false, TEXELS>;
    }
}

template <Source SOURCE>
[[gnu::always_inline]] inline SampleWarps sampler_of(const PlaneView& view) {
    switch (view.numbers) {
    case PlaneNumbers::Halves:
        return sampler_for<SOURCE, Texels::Halves>(view);
    case PlaneNumbers::Bytes:
        return sampler_for<SOURCE, Texels::Bytes>(view);
    case PlaneNumbers::Shorts:
        return sampler_for<SOURCE, Texels::Shorts>(view);
    default:
        return view.channels == 1 ? sampler_for<SOURCE, Texels::SingleWord>(view)
                                  : sampler_for<SOURCE, Texels::Words>(view);
    }
}

/// Fetches for some warps, as sample_warps() does.
template <Source SOURCE>
[[gnu::always_inline]] inline std::uint32_t sample_some(PlaneView& view, Registers& registers,
                                                        unsigned& count, std::uint32_t mask) {
    if constexpr (SOURCE != Source::Layers) {
        return sampler_of<SOURCE>(view)(view, registers, count, mask);
    }
    const std::byte* const data = view.data;
    while (count != 0) { // each warp may read another layer
        if (!is_uniform(registers.layer.at)) [[unlikely]] {
            return mask;
        }
        const std::uint32_t layer = load<std::uint32_t>(registers.layer.at, 0)[0];
        view.data = data + (layer < view.layers ? layer : view.layers - 1) * view.slice_bytes;
        unsigned one = 1;
        const std::uint32_t left = sampler_of<Source::Plane>(view)(view, registers, one, mask);
        view.data = data;
        if (left != 0) [[unlikely]] {
            return left;
        }
        --count;
    }
    return 0;
}

/// Describes the texture that all lanes of `mask` read, if this file knows it.
template <Source SOURCE>
[[gnu::always_inline]] inline bool find_view(const WarpContext& warp, const Instruction* at,
                                             std::uint32_t mask, PlaneView& view) {
    constexpr Geometry geometry = SOURCE == Source::Line     ? Geometry::Line
                                  : SOURCE == Source::Plane  ? Geometry::Plane
                                  : SOURCE == Source::Volume ? Geometry::Volume
                                                             : Geometry::PlaneLayers;
    return SOURCE == Source::List ? find_list(warp, at, mask, view)
                                  : find_plane(warp, at, mask, geometry, view);
}

/// Finds the registers of a fetch. `frame` is that of the first warp.
template <Source SOURCE>
[[gnu::always_inline]] inline Registers registers_of(const WarpContext& warp, std::byte* frame,
                                                     std::size_t step, const Instruction* at) {
    const auto place = [&](Operand operand) {
        return is_linear_operand(operand) ? frame + operand.bits : locate(warp, operand);
    };
    const auto source = [&](unsigned index) {
        const Operand operand = at->src[index];
        return Register{place(operand), is_linear_operand(operand) ? step : 0};
    };
    constexpr unsigned first = SOURCE == Source::Layers ? 2 : 1; // the layer comes before
    Registers registers;
    for (unsigned axis = 0; axis < axes_of(SOURCE); ++axis) {
        registers.coordinates[axis] = source(first + axis);
    }
    registers.layer = source(1);
    registers.step = step;
    for (unsigned channel = 0; channel < 4; ++channel) {
        registers.results[channel] =
            at->dst[channel].bits == Operand::NONE_BITS ? nullptr : place(at->dst[channel]);
    }
    return registers;
}

template <Source SOURCE>
const Instruction* sample(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    PlaneView view;
    if (!find_view<SOURCE>(warp, at, mask, view)) {
        return sample_any(warp, at, mask);
    }
    Registers registers =
        registers_of<SOURCE>(warp, *reinterpret_cast<std::byte* const*>(&warp.banks), 0, at);
    unsigned count = 1;
    const std::uint32_t left = sample_some<SOURCE>(view, registers, count, mask);
    return left == 0 ? at + 1 : sample_any(warp, at, left);
}

/// Fetches for all warps of a block. The texture is the same for all of them.
template <Source SOURCE>
const Instruction* sample_block(Lockstep& block, const Instruction* at) {
    PlaneView view;
    if (!find_view<SOURCE>(block.whole, at, FULL_MASK, view)) {
        return lockstep::run_in_each(block, at, at + 1);
    }
    Registers registers =
        registers_of<SOURCE>(block.whole, block.frames, block.warp_stride_bytes, at);
    unsigned count = block.warp_count;
    for (;;) {
        const std::uint32_t left = sample_some<SOURCE>(view, registers, count, FULL_MASK);
        if (left == 0) [[likely]] {
            return at + 1;
        }
        lockstep::prepare_warps(block);
        if (sample_any(block.warps[block.warp_count - count], at, left) == nullptr) {
            block.end = Lockstep::End::Faulted;
            block.are_warps_ready = false;
            return nullptr;
        }
        registers.advance();
        --count;
    }
}

/// Calls `found.operator()<SOURCE>()` for what a form reads, and returns the result, or null if
/// this file does not know the form: it has a level or an offset, or another shape.
template <typename Found>
auto select_source(const SampleForm& form, Found found)
    -> decltype(found.template operator()<Source::Line>()) {
    const bool is_plain = form.level == LevelFrom::Nowhere &&
                          form.component == SampleForm::NOT_GATHER && !form.has_sampler &&
                          !form.has_offset && !form.tells_residency;
    const bool has_words = form.type == SampleType::Word || form.type == SampleType::Float;
    if (!is_plain || !has_words) {
        return nullptr;
    }
    if (form.has_whole_coordinates) {
        return form.geometry == Geometry::Line ? found.template operator()<Source::List>()
                                               : nullptr;
    }
    switch (form.geometry) {
    case Geometry::Line:
        return found.template operator()<Source::Line>();
    case Geometry::Plane:
        return found.template operator()<Source::Plane>();
    case Geometry::Volume:
        return found.template operator()<Source::Volume>();
    case Geometry::PlaneLayers:
        return found.template operator()<Source::Layers>();
    default:
        return nullptr;
    }
}

} // namespace

Handler select_texture(const SampleForm& form) {
    return select_source(form, []<Source SOURCE>() -> Handler { return sample<SOURCE>; });
}

bytecode::LockstepHandler select_lockstep_texture(const SampleForm& form) {
    return select_source(
        form, []<Source SOURCE>() -> bytecode::LockstepHandler { return sample_block<SOURCE>; });
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
