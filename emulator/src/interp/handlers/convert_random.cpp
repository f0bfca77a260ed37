// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt.rs: single precision to smaller formats. The random bits are added to the dropped bits; if
// the sum carries, the value is rounded away from zero.
//
// The random bits align with the top of the dropped bits: 13 of them for f16, otherwise 16. Of four
// values, each pair shares 16 bits, and its first value reads them in reverse order. The PTX manual
// says which 16 bits these are. Devices of compute capability 10.0 and 10.3 behave like this.

#include "interp/handlers/float_common.hpp"
#include "interp/handlers/select.hpp"
#include "interp/handlers/small_formats.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

using U = std::uint32_t;

constexpr int SINGLE_BIAS = 127;
constexpr int SINGLE_FRACTION_BITS = 23;

/// The random bits of the two values of a pair.
struct Random {
    U first;
    U second;
};

U reverse_half(U bits) {
    U result = 0;
    for (unsigned i = 0; i < 16; ++i) {
        result |= (bits >> i & 1) << (15 - i);
    }
    return result;
}

Random random_bits(U bits, const ConvertForm& form) {
    if (form.random == RandomBits::Halves) {
        const U used = form.to == Format::F16 ? 0x1fffu : 0xffffu;
        return {bits >> 16 & used, bits & used};
    }
    const bool is_upper = form.random == RandomBits::UpperPair;
    U shared = is_upper ? bits >> 16 : bits & 0xffffu;
    if (form.to == Format::E2M1) { // one byte of each half
        shared = is_upper ? (bits >> 16 & 0xff00u) | (bits >> 8 & 0xffu)
                          : (bits >> 8 & 0xff00u) | (bits & 0xffu);
    }
    return {reverse_half(shared), shared};
}

/// Rounds a finite number to a format, without the sign. The result may exceed the largest number.
U round_magnitude(U single, U random, int random_width, const rows::FormatRecord& layout) {
    const int field = static_cast<int>(single >> SINGLE_FRACTION_BITS & 0xff);
    const U fraction = single & 0x7fffffu;
    const U mantissa = field == 0 ? fraction : fraction | 1u << SINGLE_FRACTION_BITS;
    const int exponent = (field == 0 ? 1 : field) - SINGLE_BIAS;
    const int lowest = 2 - (1 << (layout.exponent_bits - 1));
    const int above = exponent > lowest ? exponent - lowest : 0;
    const int below = exponent < lowest ? lowest - exponent : 0;
    const int dropped = SINGLE_FRACTION_BITS - layout.fraction_bits + below;
    // Random bits cannot carry into a result that is this far above them.
    constexpr int most_dropped = 60;
    if (dropped > most_dropped) {
        return 0;
    }
    const std::uint64_t sum =
        mantissa + (static_cast<std::uint64_t>(random) << (dropped - random_width));
    const std::uint64_t kept = sum >> dropped;
    return static_cast<U>((static_cast<std::uint64_t>(above) << layout.fraction_bits) + kept);
}

U convert_one(U single, U random, const ConvertForm& form) {
    const rows::FormatRecord& layout = record_of(form.to);
    const U magnitude = single & 0x7fffffffu;
    constexpr U infinity = 0x7f800000u;
    if (magnitude > infinity) {
        return layout.nan;
    }
    const bool is_negative = (single >> 31) != 0;
    if (form.is_relu && is_negative) {
        return 0;
    }
    U result = magnitude == infinity
                   ? layout.largest + 1
                   : round_magnitude(magnitude, random, form.to == Format::F16 ? 13 : 16, layout);
    if (result > layout.largest) {
        result = form.is_finite_saturating ? layout.largest : layout.infinity;
    }
    return result | static_cast<U>(is_negative) << sign_position(form.to);
}

} // namespace

const Instruction* convert_random(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const ConvertForm form = unpack(at->immediate);
    const auto* const first = lanes_of<U>(warp, at->src[0]);
    const auto* const second = lanes_of<U>(warp, at->src[1]);
    const auto* const bits = lanes_of<U>(warp, at->src[2]);
    auto* const to = lanes_of<U>(warp, at->dst[0]);
    for_each_lane(mask, [&](unsigned lane) {
        const Random random = random_bits(bits[lane], form);
        to[lane] = convert_one(first[lane], random.first, form) << record_of(form.to).bits |
                   convert_one(second[lane], random.second, form);
    });
    return at + 1;
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
