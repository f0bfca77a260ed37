// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Bitwise operations, shifts and bit fields, compared bit by bit with their definitions.

#include "support/operation.hpp"

#include <bit>

namespace cuprum::emulator::test {

namespace {

using U = std::uint32_t;
using S = std::int32_t;
using UL = std::uint64_t;
using SL = std::int64_t;

class Bits : public OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(levels, Bits, LEVELS);

const std::vector<U> WORDS{0,          1,          2,          0x80000000, 0x7fffffff, 0xffffffff,
                           0x12345678, 0xdeadbeef, 0x0000ffff, 0xffff0000, 0x00800000, 31};
const std::vector<UL> LONGS{0,
                            1,
                            0x8000000000000000,
                            0x7fffffffffffffff,
                            0xffffffffffffffff,
                            0x123456789abcdef0,
                            0x00000000ffffffff,
                            0xffffffff00000000};
const std::vector<U> AMOUNTS{0,  1,  7,  15, 16,  17,  31,         32,
                             33, 63, 64, 65, 255, 256, 0x80000000, 0xffffffff};

TEST_P(Bits, shifts_clamp_at_the_width) {
    expect_operation<U>("shl.b32 %d, %a, %b;", each(WORDS, AMOUNTS),
                        [](U a, U n) { return n > 31 ? 0 : a << n; });
    expect_operation<U>("shr.u32 %d, %a, %b;", each(WORDS, AMOUNTS),
                        [](U a, U n) { return n > 31 ? 0 : a >> n; });
    expect_operation<U>("shr.s32 %d, %a, %b;", each(WORDS, AMOUNTS), [](U a, U n) {
        return static_cast<U>(static_cast<S>(a) >> (n > 31 ? 31 : n));
    });
    expect_operation<UL>("shl.b64 %d, %a, %b;", each(LONGS, AMOUNTS),
                         [](UL a, U n) { return n > 63 ? 0 : a << n; });
    expect_operation<UL>("shr.u64 %d, %a, %b;", each(LONGS, AMOUNTS),
                         [](UL a, U n) { return n > 63 ? 0 : a >> n; });
    expect_operation<UL>("shr.s64 %d, %a, %b;", each(LONGS, AMOUNTS), [](UL a, U n) {
        return static_cast<UL>(static_cast<SL>(a) >> (n > 63 ? 63 : n));
    });
    using H = std::uint16_t;
    const std::vector<H> halves{0, 1, 0x7fff, 0x8000, 0xffff, 0x1234};
    expect_operation<H>("shl.b16 %d, %a, %b;", each(halves, AMOUNTS),
                        [](H a, U n) { return static_cast<H>(n > 15 ? 0 : a << n); });
    expect_operation<H>("shr.u16 %d, %a, %b;", each(halves, AMOUNTS),
                        [](H a, U n) { return static_cast<H>(n > 15 ? 0 : a >> n); });
    expect_operation<H>("shr.s16 %d, %a, %b;", each(halves, AMOUNTS), [](H a, U n) {
        return static_cast<H>(static_cast<std::int16_t>(a) >> (n > 15 ? 15 : n));
    });
}

TEST_P(Bits, funnel_shifts_wrap_or_clamp) {
    const auto triples = each(WORDS, WORDS, AMOUNTS);
    const auto both = [](U a, U b) { return UL{b} << 32 | a; };
    expect_operation<U>("shf.l.wrap.b32 %d, %a, %b, %c;", triples, [&](U a, U b, U n) {
        return static_cast<U>((both(a, b) << (n & 31)) >> 32);
    });
    expect_operation<U>("shf.r.wrap.b32 %d, %a, %b, %c;", triples,
                        [&](U a, U b, U n) { return static_cast<U>(both(a, b) >> (n & 31)); });
    expect_operation<U>("shf.l.clamp.b32 %d, %a, %b, %c;", triples, [&](U a, U b, U n) {
        return static_cast<U>((both(a, b) << std::min<U>(n, 32)) >> 32);
    });
    expect_operation<U>("shf.r.clamp.b32 %d, %a, %b, %c;", triples, [&](U a, U b, U n) {
        return static_cast<U>(both(a, b) >> std::min<U>(n, 32));
    });
}

TEST_P(Bits, logic) {
    expect_operation<U>("and.b32 %d, %a, %b;", each(WORDS, WORDS), [](U a, U b) { return a & b; });
    expect_operation<U>("or.b32 %d, %a, %b;", each(WORDS, WORDS), [](U a, U b) { return a | b; });
    expect_operation<UL>("xor.b64 %d, %a, %b;", each(LONGS, LONGS),
                         [](UL a, UL b) { return a ^ b; });
    expect_operation<UL>("not.b64 %d, %a;", each(LONGS), [](UL a) { return ~a; });
    expect_operation<U>("cnot.b32 %d, %a;", each(WORDS), [](U a) { return U{a == 0}; });
    using H = std::uint16_t;
    expect_operation<H>("cnot.b16 %d, %a;", each(std::vector<H>{0, 1, 0x8000}),
                        [](H a) { return static_cast<H>(a == 0); });
}

TEST_P(Bits, logic_of_predicates) {
    const std::vector<Bool> both{{0}, {1}};
    expect_operation<Bool>("and.pred %d, %a, %b;", each(both, both),
                           [](Bool a, Bool b) { return Bool{a.value & b.value}; });
    expect_operation<Bool>("or.pred %d, %a, !%b;", each(both, both),
                           [](Bool a, Bool b) { return Bool{a.value | (1 - b.value)}; });
    expect_operation<Bool>("xor.pred %d, %a, %b;", each(both, both),
                           [](Bool a, Bool b) { return Bool{a.value ^ b.value}; });
    expect_operation<Bool>("not.pred %d, %a;", each(both),
                           [](Bool a) { return Bool{1 - a.value}; });
}

TEST_P(Bits, lop3_knows_all_tables) {
    for (U table = 0; table < 256; table += GetParam() == std::string("v4") ? 1 : 3) {
        expect_operation<U>("lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";",
                            std::vector<std::tuple<U, U, U>>{{0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa},
                                                             {0x12345678, 0x9abcdef0, 0x0f1e2d3c}},
                            [&](U a, U b, U c) {
                                U result = 0;
                                for (int i = 0; i < 32; ++i) {
                                    const U index =
                                        (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1);
                                    result |= (table >> index & 1) << i;
                                }
                                return result;
                            });
    }
}

TEST_P(Bits, counting) {
    expect_operation<U>("popc.b32 %d, %a;", each(WORDS),
                        [](U a) { return static_cast<U>(std::popcount(a)); });
    expect_operation<U>("popc.b64 %d, %a;", each(LONGS),
                        [](UL a) { return static_cast<U>(std::popcount(a)); });
    expect_operation<U>("clz.b32 %d, %a;", each(WORDS),
                        [](U a) { return static_cast<U>(std::countl_zero(a)); });
    expect_operation<U>("clz.b64 %d, %a;", each(LONGS),
                        [](UL a) { return static_cast<U>(std::countl_zero(a)); });
    expect_operation<U>("bfind.u32 %d, %a;", each(WORDS),
                        [](U a) { return a == 0 ? ~U{0} : 31u - std::countl_zero(a); });
    expect_operation<U>("bfind.s32 %d, %a;", each(WORDS), [](U a) {
        const U b = (a >> 31) != 0 ? ~a : a;
        return b == 0 ? ~U{0} : 31u - std::countl_zero(b);
    });
    expect_operation<U>("bfind.shiftamt.u64 %d, %a;", each(LONGS),
                        [](UL a) { return a == 0 ? ~U{0} : static_cast<U>(std::countl_zero(a)); });
    expect_operation<UL>("brev.b64 %d, %a;", each(LONGS), [](UL a) {
        UL result = 0;
        for (int i = 0; i < 64; ++i) {
            result |= (a >> i & 1) << (63 - i);
        }
        return result;
    });
    expect_operation<U>("brev.b32 %d, %a;", each(WORDS), [](U a) {
        U result = 0;
        for (int i = 0; i < 32; ++i) {
            result |= (a >> i & 1) << (31 - i);
        }
        return result;
    });
}

/// bfe as PTX defines it.
template <typename T>
T extract(T a, U position, U length, bool is_signed) {
    const int msb = sizeof(T) * 8 - 1;
    // Only 8 bits count. In a GPU's 64-bit forms, larger values count as large, not modulo 256.
    const auto limited = [](U value) {
        return static_cast<int>(sizeof(T) == 4 ? value & 0xff : std::min<U>(value, 255));
    };
    const int pos = limited(position);
    const int len = limited(length);
    const T sign = is_signed && len != 0 ? a >> std::min(pos + len - 1, msb) & 1 : 0;
    T result = 0;
    for (int i = 0; i <= msb; ++i) {
        const T bit = i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign;
        result |= bit << i;
    }
    return result;
}

TEST_P(Bits, fields) {
    const std::vector<U> small{0, 1, 4, 8, 31, 32, 40, 63, 64, 200, 255, 0x108};
    expect_operation<U>("bfe.u32 %d, %a, %b, %c;", each(WORDS, small, small),
                        [](U a, U b, U c) { return extract(a, b, c, false); });
    expect_operation<U>("bfe.s32 %d, %a, %b, %c;", each(WORDS, small, small),
                        [](U a, U b, U c) { return extract(a, b, c, true); });
    expect_operation<UL>("bfe.s64 %d, %a, %b, %c;", each(LONGS, small, small),
                         [](UL a, U b, U c) { return extract(a, b, c, true); });
    expect_operation<U>("bfi.b32 %d, %a, 0x55aa55aa, %b, %c;", each(WORDS, small, small),
                        [](U a, U position, U length) {
                            U result = 0x55aa55aa;
                            const U pos = position & 0xff;
                            for (U i = 0; i < (length & 0xff) && pos + i <= 31; ++i) {
                                result = (result & ~(U{1} << (pos + i))) | (a >> i & 1)
                                                                               << (pos + i);
                            }
                            return result;
                        });
    expect_operation<U>("bmsk.clamp.b32 %d, %a, %b;", each(small, small), [](U a, U b) {
        U result = 0;
        for (U i = 0; i < 32; ++i) {
            result |= U{i >= a && UL{i} < UL{a} + b} << i;
        }
        return result;
    });
    expect_operation<U>("szext.wrap.s32 %d, %a, %b;", each(WORDS, small), [](U a, U b) {
        const U bits = b & 31;
        return bits == 0 ? 0 : static_cast<U>(static_cast<S>(a << (32 - bits)) >> (32 - bits));
    });
    expect_operation<U>("szext.clamp.u32 %d, %a, %b;", each(WORDS, small),
                        [](U a, U b) { return b >= 32 ? a : a & ((U{1} << b) - 1); });
}

TEST_P(Bits, fns_finds_the_nth_set_bit_in_either_direction) {
    expect_operation<U>("fns.b32 %d, %a, %b, %c;",
                        each(WORDS, std::vector<U>{0, 5, 16, 31},
                             std::vector<S>{0, 1, 2, 5, -1, -2, -7, 33, INT32_MIN}),
                        [](U mask, U base, S offset) {
                            if (offset == 0) {
                                return (mask >> base & 1) != 0 ? base : ~U{0};
                            }
                            std::int64_t left = std::abs(std::int64_t{offset});
                            for (int i = static_cast<int>(base); i >= 0 && i < 32;
                                 i += offset > 0 ? 1 : -1) {
                                if ((mask >> i & 1) != 0 && --left == 0) {
                                    return static_cast<U>(i);
                                }
                            }
                            return ~U{0};
                        });
}

TEST_P(Bits, prmt_picks_bytes) {
    const std::vector<U> selectors{0x3210, 0x7654, 0x0123, 0x5140, 0xfedc, 0x8888, 1, 2, 3};
    const auto bytes = [](U a, U b, U index) {
        return static_cast<U>((UL{b} << 32 | a) >> (8 * index)) & 0xff;
    };
    expect_operation<U>(
        "prmt.b32 %d, %a, %b, %c;", each(WORDS, WORDS, selectors), [&](U a, U b, U selector) {
            U result = 0;
            for (U i = 0; i < 4; ++i) {
                const U nibble = selector >> (4 * i) & 15;
                const U byte = bytes(a, b, nibble & 7);
                result |= ((nibble & 8) != 0 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i);
            }
            return result;
        });
    const auto mode = [&](const std::string& name, const U(&table)[4][4]) {
        expect_operation<U>("prmt.b32." + name + " %d, %a, %b, %c;",
                            each(WORDS, WORDS, std::vector<U>{0, 1, 2, 3}), [&](U a, U b, U k) {
                                U result = 0;
                                for (U i = 0; i < 4; ++i) {
                                    result |= bytes(a, b, table[k][i]) << (8 * i);
                                }
                                return result;
                            });
    };
    // Lowest byte first, from the tables of the PTX manual.
    mode("f4e", {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}});
    mode("b4e", {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}});
    mode("rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}});
    mode("ecl", {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}});
    mode("ecr", {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}});
    mode("rc16", {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}});
}

} // namespace

} // namespace cuprum::emulator::test
