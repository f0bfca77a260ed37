// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/video.hpp"

#include <algorithm>
#include <bit>

namespace cuprum::emulator::video {

using bytecode::Instruction;

namespace {

typedef std::uint32_t Lane32 __attribute__((may_alias));
__extension__ typedef __int128 Wide;

struct Operands {
    std::uint32_t a;
    std::uint32_t b;
    std::uint32_t c;
};

bool has(const Form& form, unsigned flag) {
    return (form.flags & flag) != 0;
}

/// Extends the low `bits` of a value.
std::int64_t extend(std::uint32_t value, unsigned bits, bool is_signed) {
    const unsigned unused = 32 - bits;
    return is_signed ? static_cast<std::int32_t>(value << unused) >> unused
                     : static_cast<std::int64_t>(value << unused >> unused);
}

std::int64_t part_of(std::uint32_t value, std::uint8_t part, bool is_signed) {
    if (part == Form::ALL) {
        return extend(value, 32, is_signed);
    }
    return part < 4 ? extend(value >> (part * 8), 8, is_signed)
                    : extend(value >> ((part - 4) * 16), 16, is_signed);
}

unsigned bits_of_part(std::uint8_t part) {
    return part == Form::ALL ? 32 : part < 4 ? 8 : 16;
}

Wide clamp_to(Wide value, unsigned bits, bool is_signed) {
    const Wide most = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    const Wide least = is_signed ? -most - 1 : 0;
    return std::clamp(value, least, most);
}

/// Replaces a part of `old` by the low bits of `value`.
std::uint32_t merge(std::uint32_t old, std::uint32_t value, std::uint8_t part) {
    const unsigned bits = bits_of_part(part);
    const unsigned at = part < 4 ? part * 8u : (part - 4) * 16u;
    const std::uint32_t mask = ((1u << bits) - 1) << at;
    return (old & ~mask) | (value << at & mask);
}

Wide shift(const Form& form, std::int64_t value, std::int64_t amount) {
    const auto count =
        has(form, Form::WRAPS)
            ? static_cast<unsigned>(amount & 31)
            : static_cast<unsigned>(std::min<std::int64_t>(static_cast<std::uint32_t>(amount), 32));
    if (form.op == Op::ShiftRight) {
        return value >> count;
    }
    return static_cast<Wide>(value) << count;
}

Wide apply(const Form& form, std::int64_t a, std::int64_t b) {
    switch (form.op) {
    case Op::Add:
        return a + b;
    case Op::Sub:
        return a - b;
    case Op::AbsDiff:
        return a > b ? a - b : b - a;
    case Op::Min:
        return std::min(a, b);
    case Op::Max:
        return std::max(a, b);
    case Op::Average:
        return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case Op::Eq:
        return a == b;
    case Op::Ne:
        return a != b;
    case Op::Lt:
        return a < b;
    case Op::Le:
        return a <= b;
    case Op::Gt:
        return a > b;
    case Op::Ge:
        return a >= b;
    default:
        return shift(form, a, b);
    }
}

/// Saturates as GPUs do, which differs in places from the PTX manual. GPUs no longer have a video
/// unit, and the code that the driver generates instead loses bits at the edges.
Wide saturate(const Form& form, Wide value) {
    const bool is_signed = has(form, Form::SIGNED_D);
    if (form.d != Form::ALL && is_signed) { // negative values count as large
        const Wide most = (1 << (bits_of_part(form.d) - 1)) - 1;
        return std::min<Wide>(static_cast<std::uint32_t>(value), most);
    }
    if (form.op == Op::ShiftLeft) { // only 34 bits of the shifted value are seen
        const auto kept = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << 30) >> 30;
        return clamp_to(kept, bits_of_part(form.d), is_signed);
    }
    if (form.d == Form::ALL && !is_signed) { // clamps only from below
        return std::max<Wide>(value, 0);
    }
    return clamp_to(value, bits_of_part(form.d), is_signed);
}

/// Returns whether the second operation treats `value` as less than `c`.
bool is_less(const Form& form, std::uint32_t value, std::uint32_t c) {
    constexpr unsigned SOURCES = Form::SIGNED_A | Form::SIGNED_B;
    const bool has_signed_sources = (form.flags & SOURCES) == SOURCES;
    if (has(form, Form::SIGNED_D) || (form.op >= Op::Eq && has_signed_sources)) {
        return static_cast<std::int32_t>(value) < static_cast<std::int32_t>(c);
    }
    // If both have the top bit set, a GPU treats c as negative and the value as positive.
    constexpr std::uint32_t SIGN = 0x80000000u;
    const bool is_beyond = has_signed_sources && (value & c & SIGN) != 0;
    return !is_beyond && value < c;
}

std::uint32_t finish(const Form& form, std::uint32_t value, std::uint32_t c) {
    switch (form.second) {
    case Second::Add:
        return value + c;
    case Second::Min:
    case Second::Max:
        return is_less(form, value, c) == (form.second == Second::Min) ? value : c;
    case Second::Merge:
        if (form.d == Form::HIGH_HALF) { // a GPU merges the high halfword in place
            return (value & 0xffff0000u) | (c & 0xffffu);
        }
        return form.d == Form::ALL ? value : merge(c, value, form.d);
    case Second::None:
        break;
    }
    return value;
}

std::uint32_t multiply(const Form& form, const Operands& in) {
    const std::int64_t a = part_of(in.a, form.a, has(form, Form::SIGNED_A));
    const std::int64_t b = part_of(in.b, form.b, has(form, Form::SIGNED_B));
    const bool is_signed =
        (form.flags & (Form::SIGNED_A | Form::SIGNED_B | Form::NEGATES_AB | Form::NEGATES_C)) != 0;
    std::uint32_t c = in.c;
    Wide result = static_cast<Wide>(a) * b;
    if (has(form, Form::NEGATES_AB)) {
        result = -result;
    } else if (has(form, Form::NEGATES_C)) {
        c = ~c;
    }
    result += extend(c, 32, true); // for all types of a and b
    if (has(form, Form::PLUS_ONE) || has(form, Form::NEGATES_C)) {
        result += 1;
    }
    result >>= form.shift;
    if (has(form, Form::SATURATES)) {
        // A GPU treats an unsigned, shifted result below zero as large.
        const bool is_beyond = !is_signed && form.shift != 0 && result < 0;
        result = is_beyond ? -1 : clamp_to(result, 32, is_signed);
    }
    return static_cast<std::uint32_t>(result);
}

std::uint32_t run_scalar(const Form& form, const Operands& in) {
    if (form.op == Op::Multiply) {
        return multiply(form, in);
    }
    Wide value = apply(form, part_of(in.a, form.a, has(form, Form::SIGNED_A)),
                       part_of(in.b, form.b, has(form, Form::SIGNED_B)));
    if (has(form, Form::SATURATES)) {
        value = saturate(form, value);
    }
    return finish(form, static_cast<std::uint32_t>(value), in.c);
}

std::uint32_t run_lanes(const Form& form, const Operands& in, std::uint32_t selectors) {
    const unsigned bits = 32u / form.lanes;
    // Elements are numbered across a and b.
    const std::uint64_t all = static_cast<std::uint64_t>(in.b) << 32 | in.a;
    const auto element = [&](unsigned nibble, bool is_signed) {
        const unsigned index = selectors >> (nibble * 4) & 15;
        return extend(static_cast<std::uint32_t>(all >> (index * bits)), bits, is_signed);
    };
    std::uint32_t result = in.c;
    for (unsigned i = 0; i < form.lanes; ++i) {
        if ((form.d >> i & 1) == 0) {
            continue;
        }
        Wide value = apply(form, element(i, has(form, Form::SIGNED_A)),
                           element(i + 4, has(form, Form::SIGNED_B)));
        if (has(form, Form::SATURATES)) {
            value = clamp_to(value, bits, has(form, Form::SIGNED_D));
        }
        if (form.second == Second::Add) {
            result += static_cast<std::uint32_t>(value);
        } else {
            const auto part = static_cast<std::uint8_t>(form.lanes == 4 ? i : i + 4);
            result = merge(result, static_cast<std::uint32_t>(value), part);
        }
    }
    return result;
}

} // namespace

const Instruction* run(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const auto form = std::bit_cast<Form>(at->immediate);
    const auto* const a = reinterpret_cast<const Lane32*>(warp.at(at->src[0]));
    const auto* const b = reinterpret_cast<const Lane32*>(warp.at(at->src[1]));
    const auto* const c = reinterpret_cast<const Lane32*>(warp.at(at->src[2]));
    auto* const to = reinterpret_cast<Lane32*>(warp.at(at->dst[0]));
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        const Operands in{a[lane], b[lane], c[lane]};
        to[lane] = form.lanes == 1 ? run_scalar(form, in) : run_lanes(form, in, at->target);
    }
    return at + 1;
}

} // namespace cuprum::emulator::video
