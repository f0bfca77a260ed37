// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The forms of the instructions on textures and surfaces. An instruction keeps its form in
// `immediate`.
//
// Sources, in this order: the handle (64 bits, plus `target` if it is an address), the sampler (64
// bits, if stated), then words of 32 bits: the layer, the coordinates, the level or both gradients,
// the offsets; for stores the values (of `element_bytes` each).

#pragma once

#include "bytecode/form.hpp"

#include <bit>
#include <cstdint>

namespace cuprum::emulator {

/// The shape that an instruction assumes.
enum class Geometry : std::uint8_t {
    Line,
    Plane,
    Volume,
    LineLayers,
    PlaneLayers,
    Cube,
    CubeLayers
};

[[nodiscard]] constexpr bool has_layer(Geometry geometry) {
    return geometry == Geometry::LineLayers || geometry == Geometry::PlaneLayers ||
           geometry == Geometry::CubeLayers;
}

/// Returns the number of coordinates besides the layer.
[[nodiscard]] constexpr unsigned axes_of(Geometry geometry) {
    switch (geometry) {
    case Geometry::Line:
    case Geometry::LineLayers:
        return 1;
    case Geometry::Plane:
    case Geometry::PlaneLayers:
        return 2;
    default:
        return 3;
    }
}

/// Where the level of a mipmapped texture comes from.
enum class LevelFrom : std::uint8_t { Nowhere, Operand, Gradients };

/// The numbers that tex and tld4 write.
enum class SampleType : std::uint8_t {
    Word,     // .u32 and .s32
    Float,    // .f32
    Half,     // .f16: four registers
    HalfPair, // .f16x2: two registers
};

/// tex and tld4.
struct SampleForm {
    static constexpr std::uint8_t NOT_GATHER = 4;

    Geometry geometry{};
    LevelFrom level{};
    SampleType type{};
    std::uint8_t component = NOT_GATHER; // tld4: which component of the four texels
    bool has_whole_coordinates : 1 = false;
    bool has_sampler : 1 = false;
    bool has_offset : 1 = false;
    bool tells_residency : 1 = false; // the last destination is a predicate
    std::uint8_t unused[3] = {};
};

static_assert(sizeof(SampleForm) == 8);

template <>
constexpr inline bytecode::Family bytecode::FAMILY_OF<SampleForm> = bytecode::Family::Sample;

/// What txq and suq ask for.
enum class ImageQuery : std::uint8_t {
    Width,
    Height,
    Depth,
    ChannelType,
    ChannelOrder,
    IsNormalized,
    Layers,
    Levels,
    Samples,
    MemoryLayout,
    Filter, // from here on: of the sampler
    Mode0,
    Mode1,
    Mode2,
    ForcesUnnormalized,
};

struct QueryForm {
    ImageQuery query{};
    bool is_surface = false;
    bool has_level = false;
    std::uint8_t unused[5] = {};
};

static_assert(sizeof(QueryForm) == 8);

/// istypep: which references a value may be.
enum class ReferenceType : std::uint8_t { Texture, Sampler, Surface };

enum class SurfaceOp : std::uint8_t { Load, Store, StoreFormatted, Add, Min, Max, And, Or };

/// What happens to accesses outside of a surface.
enum class Boundary : std::uint8_t { Trap, Clamp, Zero };

/// suld, sust and sured.
struct SurfaceForm {
    SurfaceOp op{};
    Geometry geometry{}; // neither Cube nor CubeLayers
    Boundary boundary{};
    std::uint8_t count = 1;         // of values
    std::uint8_t element_bytes = 4; // of a value; formatted stores take words
    bool counts_texels = false;     // x counts texels instead of bytes
    bool is_signed = false;         // of min and max
    std::uint8_t unused = 0;
};

static_assert(sizeof(SurfaceForm) == 8);

/// Returns a form as the `immediate` of an instruction.
template <typename Form>
[[nodiscard]] std::int64_t packed_form(const Form& form) {
    return std::bit_cast<std::int64_t>(form);
}

} // namespace cuprum::emulator
