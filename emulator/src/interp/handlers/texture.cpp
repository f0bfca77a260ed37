// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The most common texture fetches with vectors: points and linear filters of lines, planes and
// layers of planes. All other fetches take the way of interp/texture.cpp. Both give the same bits.
//
// In lockstep, the texture is found once for all warps.

#include "interp/handlers/select.hpp"
#include "interp/handlers/texture_axes.hpp"
#include "interp/handlers/texture_filters.hpp"
#include "interp/handlers/texture_reads.hpp"
#include "interp/lockstep.hpp"
#include "interp/plane_view.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using texels::Axis;
using texels::CHUNK_LANES;
using texels::CHUNK_MASK;
using texels::CORNERS;
using texels::Floats;
using texels::Ints;
using texels::TexelWords;
using texels::Words;

/// What a fetch reads.
enum class Source : std::uint8_t {
    Line,
    Plane,
    Layers, // of planes
    List,   // linear memory, by index; everything outside is zero
};

/// The texels that a fetch is compiled for.
enum class Texels : std::uint8_t { SingleWord, Words, Halves, Bytes, Shorts };

/// Returns the size of a texel, or 0 if it is known only at run time.
constexpr unsigned bytes_of(Texels texels) {
    return texels == Texels::SingleWord ? 4 : 0;
}

// ---- fetches -----------------------------------------------------------------------------------

/// The registers of a fetch in the first of some warps, and the distance to those of the next warp.
struct Registers {
    const std::byte* across = nullptr;
    const std::byte* down = nullptr;
    const std::byte* layer = nullptr;
    std::byte* results[4] = {}; // null: not used
    std::size_t across_step = 0;
    std::size_t down_step = 0;
    std::size_t layer_step = 0;
    std::size_t step = 0; // of the results

    void advance() {
        across += across_step;
        down += down_step;
        layer += layer_step;
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

/// Returns a channel of texels of bytes or shorts.
template <Texels TEXELS>
[[gnu::always_inline]] inline Words number_of(const PlaneView& view, const TexelWords& words,
                                              unsigned channel) {
    constexpr unsigned bits = TEXELS == Texels::Bytes ? 8 : 16;
    constexpr unsigned in_word = 32 / bits;
    const unsigned place = channel % in_word * bits;
    const Words shifted = words.of[channel / in_word] << (32 - bits - place);
    return view.is_signed ? reinterpret_cast<Words>(reinterpret_cast<Ints>(shifted) >> (32 - bits))
                          : shifted >> (32 - bits);
}

/// Fetches points. `results` receives as many words as a texel has channels.
template <Texels TEXELS>
[[gnu::always_inline]] inline void sample_points(const PlaneView& view, const Axis& x,
                                                 const Axis& y, Words (&results)[4]) {
    constexpr unsigned bytes = bytes_of(TEXELS);
    const TexelWords words =
        texels::is_row(x.first, y.first)
            ? texels::read_row<bytes>(view, texels::place_of(view, x.first, y.first))
            : texels::read_anywhere<bytes>(view, x.first, y.first);
    const unsigned channels = TEXELS == Texels::SingleWord ? 1 : view.channels;
    for (unsigned channel = 0; channel < channels; ++channel) {
        if constexpr (TEXELS == Texels::SingleWord || TEXELS == Texels::Words) {
            results[channel] = words.of[channel];
            continue;
        }
        const Words number = number_of<TEXELS>(view, words, channel);
        if constexpr (TEXELS == Texels::Halves) {
            results[channel] = reinterpret_cast<Words>(texels::widen_any_halves(number));
        } else if (view.reads_integers) {
            results[channel] = number;
        } else {
            constexpr std::int32_t expanded = TEXELS == Texels::Bytes ? 257 : 1;
            results[channel] = reinterpret_cast<Words>(
                texels::fractions(reinterpret_cast<Ints>(number) * expanded));
        }
    }
}

/// The same with a linear filter. Adds lanes that must be fetched in another way to `missed`.
template <Texels TEXELS>
[[gnu::always_inline]] inline void sample_filtered(const PlaneView& view, const Axis& x,
                                                   const Axis& y, Words (&results)[4],
                                                   std::uint32_t& missed) {
    constexpr unsigned bytes = bytes_of(TEXELS);
    const texels::Weights weights = texels::find_weights(x, y);
    TexelWords corners[CORNERS];
    // If the lanes share their first row, they also share the second one.
    if (texels::is_row(x.first, y.first) &&
        static_cast<std::uint32_t>(x.first[0]) + CHUNK_LANES < view.sizes[0]) {
        const std::byte* const upper = texels::place_of(view, x.first, y.first);
        const std::byte* const lower = texels::place_of(view, x.first, y.second);
        corners[0] = texels::read_row<bytes>(view, upper);
        corners[1] = texels::read_row<bytes>(view, upper + view.texel_bytes);
        corners[2] = texels::read_row<bytes>(view, lower);
        corners[3] = texels::read_row<bytes>(view, lower + view.texel_bytes);
    } else {
        corners[0] = texels::read_anywhere<bytes>(view, x.first, y.first);
        corners[1] = texels::read_anywhere<bytes>(view, x.second, y.first);
        corners[2] = texels::read_anywhere<bytes>(view, x.first, y.second);
        corners[3] = texels::read_anywhere<bytes>(view, x.second, y.second);
    }
    Words numbers[CORNERS];
    if constexpr (TEXELS == Texels::Bytes) {
        for (unsigned i = 0; i < CORNERS; ++i) {
            numbers[i] = corners[i].of[0];
        }
        texels::filter_bytes(numbers, weights, view.channels, results);
        return;
    }
    const unsigned channels = TEXELS == Texels::SingleWord ? 1 : view.channels;
    for (unsigned channel = 0; channel < channels; ++channel) {
        Floats sum;
        for (unsigned i = 0; i < CORNERS; ++i) {
            if constexpr (TEXELS == Texels::Halves) {
                numbers[i] = reinterpret_cast<Words>(
                    texels::widen_halves(number_of<TEXELS>(view, corners[i], channel)));
            } else if constexpr (TEXELS == Texels::Shorts) {
                numbers[i] = number_of<TEXELS>(view, corners[i], channel);
            } else {
                numbers[i] = corners[i].of[channel];
            }
        }
        if constexpr (TEXELS == Texels::Halves) {
            sum = texels::filter_halves(numbers, weights, missed);
        } else if constexpr (TEXELS == Texels::Shorts) {
            sum = texels::filter_shorts(numbers, weights);
        } else {
            sum = texels::filter_floats(numbers, weights, missed);
        }
        results[channel] = reinterpret_cast<Words>(sum);
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

/// Fetches by index.
template <Texels TEXELS>
[[gnu::always_inline]] inline void sample_list(const PlaneView& view, Words index,
                                               Words (&results)[4]) {
    const Words is_inside = reinterpret_cast<Words>(index < view.sizes[0]);
    const Axis x{.first = reinterpret_cast<Ints>(index & is_inside)};
    sample_points<TEXELS>(view, x, Axis{}, results);
    for (Words& each : results) {
        each &= is_inside;
    }
}

/// Fetches for some warps, or for the first of them that has lanes that must be fetched in another
/// way. Returns these lanes. `registers` are then those of this warp, and `count` is the number of
/// warps from it on. The coordinates of these lanes are unchanged, even if the results go to the
/// same registers.
template <Source SOURCE, bool IS_LINEAR, Texels TEXELS>
[[gnu::noinline]] std::uint32_t sample_warps(const PlaneView& shared_view,
                                             Registers& shared_registers, unsigned& count,
                                             std::uint32_t mask) {
    // Copies, which stores to registers cannot change.
    PlaneView view = shared_view;
    Registers registers = shared_registers;
    const unsigned channels = TEXELS == Texels::SingleWord ? 1 : view.channels;
    for (unsigned warps = count; warps != 0; --warps) {
        std::uint32_t left = 0;
        if constexpr (SOURCE == Source::Layers) {
            if (!is_uniform(registers.layer)) [[unlikely]] {
                shared_registers = registers;
                count = warps;
                return mask;
            }
            const std::uint32_t layer = load<std::uint32_t>(registers.layer, 0)[0];
            view.data = shared_view.data +
                        (layer < view.layers ? layer : view.layers - 1) * shared_view.slice_bytes;
        }
        // Most often, a warp is in one row.
        constexpr bool is_plane = SOURCE == Source::Plane || SOURCE == Source::Layers;
        const bool shares_row = is_plane && is_uniform(registers.down);
        Axis y;
        std::uint32_t missed_row = 0;
        if (shares_row) {
            missed_row = texels::find<IS_LINEAR>(view, 1, load<float>(registers.down, 0), y);
        }
        for (unsigned chunk = 0; chunk < CHUNKS<float>; ++chunk) {
            Words results[4];
            for (Words& each : results) { // not as an initialiser, for which g++ calls memset
                each = Words{};
            }
            std::uint32_t missed = 0;
            if constexpr (SOURCE == Source::List) {
                sample_list<TEXELS>(view, load<std::uint32_t>(registers.across, chunk), results);
            } else {
                Axis x;
                missed = texels::find<IS_LINEAR>(view, 0, load<float>(registers.across, chunk), x);
                if (is_plane && !shares_row) {
                    missed_row =
                        texels::find<IS_LINEAR>(view, 1, load<float>(registers.down, chunk), y);
                }
                missed |= missed_row;
                if constexpr (IS_LINEAR) {
                    sample_filtered<TEXELS>(view, x, y, results, missed);
                } else {
                    sample_points<TEXELS>(view, x, y, results);
                }
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
            shared_registers = registers;
            count = warps;
            return left;
        }
        registers.advance();
    }
    return 0;
}

using SampleWarps = std::uint32_t (*)(const PlaneView&, Registers&, unsigned&, std::uint32_t);

template <Source SOURCE, Texels TEXELS>
[[gnu::always_inline]] inline SampleWarps sampler_for(const PlaneView& view) {
    if constexpr (SOURCE != Source::List) {
        if (view.is_linear) {
            return sample_warps<SOURCE, true, TEXELS>;
        }
    }
    return sample_warps<SOURCE, false, TEXELS>;
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

/// Describes the texture that all lanes of `mask` read, if this file knows it.
template <Source SOURCE>
[[gnu::always_inline]] inline bool find_view(const WarpContext& warp, const Instruction* at,
                                             std::uint32_t mask, PlaneView& view) {
    constexpr Geometry geometry = SOURCE == Source::Line    ? Geometry::Line
                                  : SOURCE == Source::Plane ? Geometry::Plane
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
    const auto step_of = [&](Operand operand) { return is_linear_operand(operand) ? step : 0; };
    constexpr unsigned first = SOURCE == Source::Layers ? 2 : 1; // the layer comes before
    constexpr bool is_plane = SOURCE == Source::Plane || SOURCE == Source::Layers;
    const Operand across = at->src[first];
    const Operand down = at->src[is_plane ? first + 1 : first];
    Registers registers;
    registers.across = place(across);
    registers.down = place(down);
    registers.layer = place(at->src[1]);
    registers.across_step = step_of(across);
    registers.down_step = step_of(down);
    registers.layer_step = step_of(at->src[1]);
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
    const std::uint32_t left = sampler_of<SOURCE>(view)(view, registers, count, mask);
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
    const SampleWarps sample_warps = sampler_of<SOURCE>(view);
    unsigned count = block.warp_count;
    for (;;) {
        const std::uint32_t left = sample_warps(view, registers, count, FULL_MASK);
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
