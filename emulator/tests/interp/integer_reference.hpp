// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What instructions on integers, bits and predicates, and selections compute, from their text. It
// follows the descriptions in the PTX ISA with integers of 128 bits, one bit or byte at a time, and
// shares nothing with the handlers.

#pragma once

#include "ptx/type_sizes.hpp"
#include "rows/row.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

namespace cuprum::emulator::test {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

/// The operands of one thread, and what the instruction wrote.
struct Values {
    std::uint64_t source[4] = {};
    bool predicate[4] = {}; // of the sources that are predicates; already negated
    bool carry = false;     // before, and after
    std::uint64_t result = 0;
    std::uint64_t second = 0; // of setp: the comparison's opposite
    double error = 0;         // of an approximation; the result need not have the same bits
};

inline std::uint64_t low_bits(Wide value, unsigned bits) {
    const auto all = static_cast<std::uint64_t>(value);
    return bits == 64 ? all : all & ((std::uint64_t{1} << bits) - 1);
}

inline Wide number_of(std::uint64_t value, unsigned bits, bool is_signed) {
    const std::uint64_t low = low_bits(static_cast<Wide>(value), bits);
    const bool is_negative = is_signed && (low >> (bits - 1) & 1) != 0;
    return is_negative ? static_cast<Wide>(low) - (Wide{1} << bits) : static_cast<Wide>(low);
}

/// Computes with numbers of one size.
struct IntegerReference {
    std::string_view opcode;
    const rows::Match& match;
    unsigned bits;
    bool is_signed;

    [[nodiscard]] Wide value(std::uint64_t source) const {
        return number_of(source, bits, is_signed);
    }

    [[nodiscard]] Wide clamp(Wide value, unsigned to_bits) const {
        const Wide most = (Wide{1} << (is_signed ? to_bits - 1 : to_bits)) - 1;
        return std::clamp(value, is_signed ? -most - 1 : Wide{0}, most);
    }

    /// Returns the lower or upper half of a product of all bits, or of 24.
    [[nodiscard]] Wide product(std::uint64_t a, std::uint64_t b) const {
        const bool is_24 = opcode.ends_with("24");
        const unsigned own = is_24 ? 24 : bits;
        const auto exact = static_cast<UnsignedWide>(number_of(a, own, is_signed)) *
                           static_cast<UnsignedWide>(number_of(b, own, is_signed));
        const unsigned shift = !match.has("hi") ? 0 : is_24 ? 16 : bits;
        return is_signed ? static_cast<Wide>(exact) >> shift : static_cast<Wide>(exact >> shift);
    }

    /// Computes one value, or one part of a packed one; more bits than it has are ignored.
    [[nodiscard]] Wide arithmetic(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
        const Wide a = value(x);
        const Wide b = value(y);
        if (opcode == "add" || opcode == "sub") {
            const Wide exact = opcode == "add" ? a + b : a - b;
            return match.has("sat") ? clamp(exact, bits) : exact;
        }
        if (opcode == "min" || opcode == "max") {
            const Wide chosen = opcode == "min" ? std::min(a, b) : std::max(a, b);
            return match.has("relu") ? std::max(chosen, Wide{0}) : chosen;
        }
        if (opcode == "abs" || opcode == "neg") {
            return opcode == "abs" && a >= 0 ? a : -a;
        }
        if (opcode == "div" || opcode == "rem") {
            return b == 0 ? -1 : opcode == "div" ? a / b : a % b;
        }
        if (opcode == "sad") {
            return value(z) + (a < b ? b - a : a - b);
        }
        if (opcode.starts_with("mul")) {
            return product(x, y);
        }
        const unsigned wide_bits = match.has("wide") ? bits * 2 : bits;
        const Wide sum = product(x, y) + number_of(z, wide_bits, is_signed);
        return match.has("sat") ? clamp(sum, bits) : sum;
    }

    [[nodiscard]] std::uint64_t packed(const std::uint64_t (&source)[4]) const {
        std::uint64_t result = 0;
        for (unsigned at = 0; at < 32; at += bits) {
            result |= low_bits(arithmetic(source[0] >> at, source[1] >> at, 0), bits) << at;
        }
        return result;
    }

    [[nodiscard]] std::uint64_t dot(const std::uint64_t (&source)[4]) const {
        const bool is_4 = opcode == "dp4a";
        const unsigned upper = match['h'] == "hi" ? 16 : 0;
        Wide sum = static_cast<Wide>(source[2]);
        for (unsigned i = 0; i < (is_4 ? 4u : 2u); ++i) {
            const unsigned a_bits = is_4 ? 8 : 16;
            sum += number_of(source[0] >> (a_bits * i), a_bits, match['a'] == "s32") *
                   number_of(source[1] >> (8 * i + upper), 8, match['b'] == "s32");
        }
        return low_bits(sum, 32);
    }

    /// A GPU subtracts by adding the complement, so the carry is 0 after a borrow.
    void extended(Values& values) const {
        const auto [a, b, c, unused] = values.source;
        const bool reads = opcode.ends_with('c');
        const bool subtracts = opcode.starts_with("sub");
        Wide sum = reads ? values.carry : subtracts;
        if (opcode.starts_with("mad")) {
            sum += static_cast<Wide>(low_bits(product(a, b), bits)) + low_bits(c, bits);
        } else {
            sum += static_cast<Wide>(low_bits(a, bits)) +
                   low_bits(static_cast<Wide>(subtracts ? ~b : b), bits);
        }
        values.result = low_bits(sum, bits);
        values.carry = match.has("cc") ? (sum >> bits & 1) != 0 : values.carry;
    }

    [[nodiscard]] std::uint64_t carryless(const std::uint64_t (&source)[4]) const {
        UnsignedWide product = 0;
        for (unsigned i = 0; i < 64; ++i) {
            product ^= (source[1] >> i & 1) != 0 ? static_cast<UnsignedWide>(source[0]) << i : 0;
        }
        return static_cast<std::uint64_t>(product >> (match.has("hi") ? 64 : 0)) ^ source[2];
    }

    [[nodiscard]] bool compare(std::uint64_t x, std::uint64_t y) const {
        const std::string_view how = match['C'];
        const Wide a = value(x);
        const Wide b = value(y);
        return how == "eq"                  ? a == b
               : how == "ne"                ? a != b
               : how == "lt" || how == "lo" ? a < b
               : how == "le" || how == "ls" ? a <= b
               : how == "gt" || how == "hi" ? a > b
                                            : a >= b;
    }

    [[nodiscard]] std::uint64_t pack(const std::uint64_t (&source)[4]) const {
        const std::string_view to = match['T'];
        const unsigned part = to.size() == 3 ? 16 : static_cast<unsigned>(to[1] - '0');
        const Wide most = (Wide{1} << (to[0] == 's' ? part - 1 : part)) - 1;
        const auto clamped = [&](std::uint64_t from) {
            return low_bits(
                std::clamp(number_of(from, 32, true), to[0] == 's' ? -most - 1 : Wide{0}, most),
                part);
        };
        const std::uint64_t before = part == 16 ? 0 : source[2] << (2 * part);
        return low_bits(static_cast<Wide>(before | clamped(source[0]) << part | clamped(source[1])),
                        32);
    }
};

/// Computes on the bits of one size.
struct BitsReference {
    std::string_view opcode;
    const rows::Match& match;
    unsigned bits;
    bool is_signed;

    static bool bit(std::uint64_t value, Wide at) {
        return at >= 0 && at < 64 && (value >> static_cast<unsigned>(at) & 1) != 0;
    }

    [[nodiscard]] std::uint64_t compute(const std::uint64_t (&source)[4]) const {
        const std::uint64_t a = low_bits(static_cast<Wide>(source[0]), bits);
        const auto b = static_cast<std::uint32_t>(source[1]);
        const auto c = static_cast<std::uint32_t>(source[2]);
        std::uint64_t result = 0;
        const auto set_where = [&](unsigned count, auto is_set) {
            for (unsigned i = 0; i < count; ++i) {
                result |= static_cast<std::uint64_t>(is_set(i)) << i;
            }
            return result;
        };
        if (opcode == "and" || opcode == "or" || opcode == "xor") {
            return set_where(bits, [&](unsigned i) {
                const int sum = bit(a, i) + bit(source[1], i);
                return opcode == "and" ? sum == 2 : opcode == "or" ? sum != 0 : sum == 1;
            });
        }
        if (opcode == "lop3") {
            return set_where(bits, [&](unsigned i) {
                return bit(match.literal, bit(a, i) * 4 + bit(b, i) * 2 + bit(c, i));
            });
        }
        if (opcode == "not" || opcode == "brev") {
            return set_where(bits, [&](unsigned i) {
                return opcode == "not" ? !bit(a, i) : bit(a, bits - 1 - i);
            });
        }
        if (opcode == "cnot") {
            return a == 0 ? 1 : 0;
        }
        if (opcode == "shl" || opcode == "shr") {
            const bool sign = is_signed && bit(a, bits - 1);
            return set_where(bits, [&](unsigned i) {
                return opcode == "shl"      ? bit(a, Wide{i} - b)
                       : Wide{i} + b < bits ? bit(a, Wide{i} + b)
                                            : sign;
            });
        }
        if (opcode == "shf") {
            const unsigned amount = match.has("wrap") ? c & 31 : std::min(c, 32u);
            const std::uint64_t both = std::uint64_t{b} << 32 | a;
            return set_where(32, [&](unsigned i) {
                return bit(both, match.has("l") ? Wide{i} + 32 - amount : Wide{i} + amount);
            });
        }
        if (opcode == "popc" || opcode == "clz" || opcode == "bfind") {
            return count(a);
        }
        if (opcode == "bfe") {
            const unsigned at = field(b);
            const unsigned length = field(c);
            const bool sign =
                is_signed && length != 0 && bit(a, std::min(at + length - 1, bits - 1));
            return set_where(bits, [&](unsigned i) {
                return i < length && at + i < bits ? bit(a, at + i) : sign;
            });
        }
        if (opcode == "bfi") {
            const unsigned at = field(c);
            const unsigned length = field(static_cast<std::uint32_t>(source[3]));
            return set_where(bits, [&](unsigned i) {
                return i >= at && i < at + length ? bit(a, i - at) : bit(source[1], i);
            });
        }
        if (opcode == "bmsk" || opcode == "szext") {
            return mask(static_cast<std::uint32_t>(a), b);
        }
        return opcode == "fns" ? nth_set(a, b, static_cast<std::int32_t>(c)) : permute(a, b, c);
    }

private:
    /// A position or length. Only eight bits count; the 64-bit forms clamp them.
    [[nodiscard]] unsigned field(std::uint32_t value) const {
        return bits == 32 ? value & 0xff : std::min(value, 255u);
    }

    [[nodiscard]] std::uint64_t count(std::uint64_t a) const {
        const bool is_inverted = opcode == "bfind" && is_signed && bit(a, bits - 1);
        unsigned ones = 0;
        int highest = -1;
        for (unsigned i = 0; i < bits; ++i) {
            ones += bit(a, i) ? 1 : 0;
            highest = bit(a, i) != is_inverted ? static_cast<int>(i) : highest;
        }
        if (opcode == "popc") {
            return ones;
        }
        const auto zeros = static_cast<std::uint32_t>(static_cast<int>(bits) - 1 - highest);
        if (opcode == "clz") {
            return zeros;
        }
        return match.has("shiftamt") && highest >= 0 ? zeros : static_cast<std::uint32_t>(highest);
    }

    [[nodiscard]] std::uint64_t mask(std::uint32_t a, std::uint32_t b) const {
        const bool clamps = match.has("clamp");
        const unsigned first = opcode == "bmsk" ? (clamps ? std::min(a, 32u) : a & 31) : 0;
        const unsigned length = clamps ? std::min(b, 32u) : b & 31;
        const bool sign = opcode == "szext" && is_signed && length != 0 && bit(a, length - 1);
        std::uint64_t result = 0;
        for (unsigned i = 0; i < 32; ++i) {
            const bool is_inside = i >= first && i < first + length;
            const bool is_set = opcode == "bmsk" ? is_inside : is_inside ? bit(a, i) : sign;
            result |= static_cast<std::uint64_t>(is_set) << i;
        }
        return result;
    }

    [[nodiscard]] static std::uint64_t nth_set(std::uint64_t a, std::uint32_t base, Wide offset) {
        const int step = offset < 0 ? -1 : 1;
        Wide left = offset == 0 ? 1 : offset * step;
        for (Wide at = base; at >= 0 && at < 32; at += step) {
            left -= bit(a, at) ? 1 : 0;
            if (left == 0) {
                return static_cast<std::uint64_t>(at);
            }
            if (offset == 0) {
                break;
            }
        }
        return 0xffffffff;
    }

    [[nodiscard]] std::uint64_t permute(std::uint64_t a, std::uint32_t b, std::uint32_t c) const {
        const std::uint64_t both = std::uint64_t{b} << 32 | a;
        const std::string_view mode = match['M'];
        const unsigned k = c & 3;
        std::uint64_t result = 0;
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned nibble = c >> (4 * i) & 15;
            const unsigned from = mode == "f4e"    ? (k + i) & 7
                                  : mode == "b4e"  ? (k + 8 - i) & 7
                                  : mode == "rc8"  ? k
                                  : mode == "ecl"  ? std::max(i, k)
                                  : mode == "ecr"  ? std::min(i, k)
                                  : mode == "rc16" ? (k & 1) * 2 + (i & 1)
                                                   : nibble & 7;
            std::uint64_t byte = both >> (8 * from) & 0xff;
            if (mode.empty() && (nibble & 8) != 0) {
                byte = (byte & 0x80) != 0 ? 0xff : 0;
            }
            result |= byte << (8 * i);
        }
        return result;
    }
};

inline bool combine(std::string_view how, bool a, bool b) {
    return how == "and" ? a && b : how == "or" ? a || b : how == "xor" ? a != b : a;
}

/// slct: the sign of the third source, as a number or a float, chooses.
inline bool chooses_first(const rows::Match& match, std::uint32_t key) {
    if (match.word(match.pattern().groups.size() - 1) == "s32") {
        return static_cast<std::int32_t>(key) >= 0;
    }
    const bool is_subnormal = (key & 0x7f800000) == 0;
    return (match.has("ftz") && is_subnormal) || std::bit_cast<float>(key) >= 0;
}

/// Combines the result of a comparison, and writes it.
inline void write_comparison(const rows::Match& match, Values& values, bool is_first) {
    const bool holds = combine(match['b'], is_first, values.predicate[2]);
    values.second = combine(match['b'], !is_first, values.predicate[2]) ? 1 : 0;
    const std::string_view to = match['R'];
    const std::uint64_t one = to.empty()            ? 1
                              : to == "f32"         ? 0x3f800000
                              : to.starts_with('f') ? 0x3c003c00
                              : to.starts_with('b') ? 0x3f803f80
                                                    : 0xffffffff;
    const unsigned result_bits = ptx::bits_of(rows::type_named(to).part);
    values.result = holds ? low_bits(static_cast<Wide>(one), result_bits) : 0;
}

/// Computes the result and the carry of an instruction.
inline void compute_reference(const rows::Match& match, Values& values) {
    const std::string_view opcode = match.word(0);
    const rows::TypeName type = match.type();
    const unsigned bits = ptx::bits_of(type.part);
    const bool is_signed = ptx::is_signed(type.part);
    const IntegerReference integer{opcode, match, bits, is_signed};
    constexpr std::string_view arithmetic[] = {"add", "sub", "mul", "mad", "div",   "rem",  "min",
                                               "max", "abs", "neg", "sad", "mul24", "mad24"};
    const std::uint64_t(&source)[4] = values.source;
    if (type.part == ptx::Type::Pred) {
        const bool a = values.predicate[0];
        const bool b = values.predicate[1];
        values.result = opcode == "and"   ? a && b
                        : opcode == "or"  ? a || b
                        : opcode == "xor" ? a != b
                                          : !a;
    } else if (opcode == "selp" || opcode == "slct") {
        const bool is_first = opcode == "selp"
                                  ? values.predicate[2]
                                  : chooses_first(match, static_cast<std::uint32_t>(source[2]));
        values.result = low_bits(static_cast<Wide>(source[is_first ? 0 : 1]), bits);
    } else if (opcode.starts_with("set")) {
        write_comparison(match, values, integer.compare(source[0], source[1]));
    } else if (match.has("cc") || opcode == "addc" || opcode == "subc" || opcode == "madc") {
        integer.extended(values);
    } else if (opcode.starts_with("dp")) {
        values.result = integer.dot(source);
    } else if (opcode == "clmad") {
        values.result = integer.carryless(source);
    } else if (opcode == "cvt") {
        values.result = integer.pack(source);
    } else if (type.is_packed) {
        values.result = integer.packed(source);
    } else if (std::ranges::find(arithmetic, opcode) != std::end(arithmetic)) {
        const unsigned result_bits = match.has("wide") ? bits * 2 : bits;
        values.result = low_bits(integer.arithmetic(source[0], source[1], source[2]), result_bits);
    } else {
        values.result = BitsReference{opcode, match, bits, is_signed}.compute(source);
    }
}

} // namespace cuprum::emulator::test
