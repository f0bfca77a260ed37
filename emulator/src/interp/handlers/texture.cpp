// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The most common texture fetches with vectors: points and linear filters of lines, planes,
// layers and levels of planes, and volumes. All other fetches take the way of interp/texture.cpp.
// Both give the same bits.
//
//   texture_axes.hpp      from coordinates to texels: address modes
//   texture_reads.hpp     reading the texels
//   texture_filters.hpp   the arithmetic of linear filters
//   texture_samples.hpp   from texels to results
//   texture_warps.hpp     fetches for some warps
//
// In lockstep, the texture is found once for all warps.

#include "interp/handlers/select.hpp"
#include "interp/handlers/texture_warps.hpp"
#include "interp/lockstep.hpp"
#include "interp/plane_view.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using texels::Addressing;
using texels::is_uniform;
using texels::Register;
using texels::Registers;
using texels::sample_warps;
using texels::Source;
using texels::Texels;

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
        return view.channels == 1 ? sampler_for<SOURCE, Texels::SingleHalf>(view)
                                  : sampler_for<SOURCE, Texels::Halves>(view);
    case PlaneNumbers::Bytes:
        return view.channels == 4 ? sampler_for<SOURCE, Texels::FourBytes>(view)
                                  : sampler_for<SOURCE, Texels::Bytes>(view);
    case PlaneNumbers::Shorts:
        return sampler_for<SOURCE, Texels::Shorts>(view);
    default:
        return view.channels == 1 ? sampler_for<SOURCE, Texels::SingleWord>(view)
                                  : sampler_for<SOURCE, Texels::Words>(view);
    }
}

/// Makes a view read the layer or level that a register holds.
template <Source SOURCE>
[[gnu::always_inline]] inline bool choose_plane(std::uint32_t choice, PlaneView& view) {
    if constexpr (SOURCE == Source::Level) {
        return choose_level(__builtin_bit_cast(float, choice), view);
    }
    view.data += (choice < view.layers ? choice : view.layers - 1) * view.slice_bytes;
    return true;
}

/// Fetches for some warps, as sample_warps() does.
template <Source SOURCE>
[[gnu::always_inline]] inline std::uint32_t sample_some(const PlaneView& view, Registers& registers,
                                                        unsigned& count, std::uint32_t mask) {
    if constexpr (SOURCE != Source::Layers && SOURCE != Source::Level) {
        return sampler_of<SOURCE>(view)(view, registers, count, mask);
    }
    while (count != 0) {
        Register next = registers.choice;
        PlaneView plane = view;
        const std::uint32_t choice = load<std::uint32_t>(next.at, 0)[0];
        if (!is_uniform(next.at) || !choose_plane<SOURCE>(choice, plane)) [[unlikely]] {
            return mask;
        }
        unsigned same = 0; // warps that read this plane
        do {
            next.advance();
            ++same;
        } while (same < count && load<std::uint32_t>(next.at, 0)[0] == choice &&
                 is_uniform(next.at));
        count -= same;
        const std::uint32_t left = sampler_of<Source::Plane>(plane)(plane, registers, same, mask);
        count += same; // what is left of them
        if (left != 0) [[unlikely]] {
            return left;
        }
    }
    return 0;
}

/// Describes the texture that all lanes of `mask` read, if this file knows it.
template <Source SOURCE>
[[gnu::always_inline]] inline bool find_view(const WarpContext& warp, const Instruction* at,
                                             std::uint32_t mask, PlaneView& view) {
    constexpr Geometry geometry = SOURCE == Source::Line     ? Geometry::Line
                                  : SOURCE == Source::Layers ? Geometry::PlaneLayers
                                  : SOURCE == Source::Volume ? Geometry::Volume
                                                             : Geometry::Plane;
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
    registers.choice = source(SOURCE == Source::Level ? 3 : 1);
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
/// this file does not know the form: it has an offset or gradients, or another shape.
template <typename Found>
auto select_source(const SampleForm& form, Found found)
    -> decltype(found.template operator()<Source::Line>()) {
    const bool is_plain = form.component == SampleForm::NOT_GATHER && !form.has_sampler &&
                          !form.has_offset && !form.tells_residency;
    const bool has_words = form.type == SampleType::Word || form.type == SampleType::Float;
    if (!is_plain || !has_words) {
        return nullptr;
    }
    if (form.level == LevelFrom::Operand) {
        return form.geometry == Geometry::Plane && !form.has_whole_coordinates
                   ? found.template operator()<Source::Level>()
                   : nullptr;
    }
    if (form.level != LevelFrom::Nowhere) {
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
