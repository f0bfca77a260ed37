// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Addresses taken apart into a uniform base and a varying index.

#include "jit/address.hpp"
#include "jit/graph_test.hpp"

#include <cstdint>
#include <string>

namespace cuprum::emulator {

namespace {

using jit::Address;
using jit::Addresses;
using jit::Version;
using test::analyse_body;
using test::Analysed;

/// Loads %r1, which varies, and %r2, which is uniform.
const std::string LOADS = "mul.wide.u32 %d20, %i, 4; add.s64 %d21, %p, %d20;\n"
                          "ld.global.s32 %r1, [%d21]; ld.global.u32 %r2, [%p];\n"
                          "ld.global.u64 %d9, [%p+8];\n";

std::uint32_t result(const Analysed& k, std::string_view text) {
    return k.node(text).results[0];
}

TEST(Address, a_base_and_a_scaled_index) {
    const Analysed k = analyse_body(LOADS + "mul.wide.s32 %d1, %r1, 8; add.s64 %d2, %p, %d1;\n"
                                            "add.s64 %d3, %d2, 24; sub.s64 %d4, %d3, %d9;\n"
                                            "st.global.u32 [%d4], %r2; ret;\n");
    Addresses addresses(k.graph, Version::Full);
    const Address* const address = addresses.parts(result(k, "sub.s64"));
    ASSERT_NE(address, nullptr);
    EXPECT_EQ(address->index.value, result(k, "ld.global.s32"));
    EXPECT_TRUE(address->is_signed);
    EXPECT_EQ(address->scale, 8);
    EXPECT_EQ(address->constant, 24);
    EXPECT_TRUE(address->offsets.empty());
    ASSERT_EQ(address->base.size(), 2u);
    EXPECT_EQ(address->base[0].value.kind, jit::Ref::Kind::Bank);
    EXPECT_EQ(address->base[0].factor, 1);
    EXPECT_EQ(address->base[1].value.value, result(k, "ld.global.u64"));
    EXPECT_EQ(address->base[1].factor, -1);
}

TEST(Address, an_extended_and_shifted_index) {
    const Analysed k =
        analyse_body(LOADS + "cvt.u64.u32 %d1, %r1; shl.b64 %d2, %d1, 2;\n"
                             "add.s64 %d3, %d2, %p; st.global.u32 [%d3], %r2; ret;\n");
    Addresses addresses(k.graph, Version::Partial);
    const Address* const address = addresses.parts(result(k, "add.s64 %d3"));
    ASSERT_NE(address, nullptr);
    EXPECT_FALSE(address->is_signed);
    EXPECT_EQ(address->scale, 4);
    EXPECT_EQ(address->base.size(), 1u);
}

TEST(Address, a_product_and_a_sum_in_one) {
    const Analysed k = analyse_body(LOADS + "mad.wide.s32 %d1, %r1, 12, %p;\n"
                                            "st.global.u32 [%d1], %r2; ret;\n");
    Addresses addresses(k.graph, Version::Full);
    const Address* const address = addresses.parts(result(k, "mad.wide"));
    ASSERT_NE(address, nullptr);
    EXPECT_EQ(address->scale, 12);
    EXPECT_EQ(address->base.size(), 1u);
}

TEST(Address, offsets_of_a_pattern_come_on_top) {
    const Analysed k = analyse_body(LOADS + "mul.wide.s32 %d1, %r1, 64; mul.wide.u32 %d2, %t, 4;\n"
                                            "add.s64 %d3, %d1, %d2; add.s64 %d3, %d3, %p;\n"
                                            "st.global.u32 [%d3], %r2; ret;\n");
    Addresses addresses(k.graph, Version::Full);
    const Address* const address = addresses.parts(result(k, "add.s64 %d3, %d3"));
    ASSERT_NE(address, nullptr);
    ASSERT_EQ(address->offsets.size(), 16u);
    EXPECT_EQ(address->offsets[5], 20);
    EXPECT_EQ(address->base.size(), 2u);
}

TEST(Address, sums_of_32_bits_are_not_taken_out_of_an_extension) {
    // %r1 + %r2 may wrap around.
    const Analysed k =
        analyse_body(LOADS + "add.s32 %r3, %r1, %r2; mul.wide.s32 %d1, %r3, 4;\n"
                             "add.s64 %d2, %p, %d1; st.global.u32 [%d2], %r2; ret;\n");
    Addresses addresses(k.graph, Version::Full);
    const Address* const address = addresses.parts(result(k, "add.s64 %d2"));
    ASSERT_NE(address, nullptr);
    EXPECT_EQ(address->index.value, result(k, "add.s32 %r3"));
}

TEST(Address, addresses_of_32_bits) {
    const Analysed k =
        analyse_body(LOADS + "shl.b32 %r3, %r1, 2; mad.lo.s32 %r4, %r2, %n, %r3;\n"
                             "add.s32 %r5, %r4, 128; st.shared.u32 [%r5], %r2; ret;\n",
                     {}, ".shared .b32 buffer[1024];\n");
    Addresses addresses(k.graph, Version::Full);
    const Address* const address = addresses.parts(result(k, "add.s32 %r5"));
    ASSERT_NE(address, nullptr);
    EXPECT_EQ(address->index.value, result(k, "ld.global.s32"));
    EXPECT_EQ(address->scale, 4);
    EXPECT_EQ(address->constant, 128);
    ASSERT_EQ(address->base.size(), 1u);
    EXPECT_EQ(address->base[0].other.kind, jit::Ref::Kind::Bank);
}

TEST(Address, values_that_have_no_parts) {
    const Analysed k =
        analyse_body(LOADS + "mul.wide.s32 %d1, %r1, %r1; setp.lt.s32 %q1, %r2, 5;\n"
                             "mul.wide.s32 %d2, %r1, 4; @%q1 add.s64 %d2, %d2, %p;\n"
                             "add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r2; ret;\n");
    Addresses addresses(k.graph, Version::Full);
    EXPECT_EQ(addresses.parts(result(k, "mul.wide.s32 %d1")), nullptr);
    EXPECT_EQ(addresses.parts(result(k, "@%q1")), nullptr);
    EXPECT_EQ(addresses.parts(result(k, "add.s64 %d1")), nullptr);
    EXPECT_EQ(addresses.parts(result(k, "add.s64 %d21")), nullptr); // a pattern, better than parts
}

TEST(Address, a_pointer_that_moves_in_a_loop) {
    const Analysed k =
        analyse_body(LOADS + "mul.wide.s32 %d1, %r1, 4; add.s64 %d2, %p, %d1;\n"
                             "mov.u32 %r4, 0;\n"
                             "L: ld.global.u32 %r3, [%d2+4]; add.s32 %r4, %r4, %r3;\n"
                             "add.s64 %d2, %d2, 16; sub.s64 %d2, %d2, %d9;\n"
                             "setp.lt.s32 %q1, %r4, 100; @%q1 bra L;\n"
                             "st.global.u32 [%d20], %r4; ret;\n");
    Addresses addresses(k.graph, Version::Partial);
    const std::uint32_t phi = k.node("ld.global.u32 %r3").sources[0].value;
    EXPECT_EQ(k.graph.values[phi].kind, jit::Value::Kind::Phi);
    EXPECT_EQ(addresses.parts(phi), nullptr);
    const jit::MovingPhi* const moves = addresses.moving(phi);
    ASSERT_NE(moves, nullptr);
    EXPECT_EQ(moves->constant_step, 16);
    ASSERT_EQ(moves->steps.size(), 1u);
    EXPECT_EQ(moves->steps[0].value.value, result(k, "ld.global.u64"));
    EXPECT_EQ(moves->steps[0].factor, -1);
    EXPECT_EQ(moves->start.scale, 4);
    const Address* const inside = addresses.parts(result(k, "add.s64 %d2, %d2"), true);
    ASSERT_NE(inside, nullptr);
    EXPECT_EQ(inside->constant, 16);
    ASSERT_EQ(inside->base.size(), 2u);
    EXPECT_EQ(inside->base[1].phi, phi);
    EXPECT_EQ(addresses.parts(result(k, "add.s64 %d2, %d2")), nullptr); // without phis
}

TEST(Address, a_pointer_that_moves_by_a_varying_distance) {
    const Analysed k =
        analyse_body(LOADS + "mul.wide.s32 %d1, %r1, 4; add.s64 %d2, %p, %d1;\n"
                             "mov.u32 %r4, 0;\n"
                             "L: ld.global.u32 %r3, [%d2+4]; add.s32 %r4, %r4, %r3;\n"
                             "add.s64 %d2, %d2, %d1;\n"
                             "setp.lt.s32 %q1, %r4, 100; @%q1 bra L;\n"
                             "st.global.u32 [%d20], %r4; ret;\n");
    Addresses addresses(k.graph, Version::Full);
    EXPECT_EQ(addresses.moving(k.node("ld.global.u32 %r3").sources[0].value), nullptr);
}

TEST(Address, clamped_indices_are_probably_adjacent) {
    const Analysed k = analyse_body(LOADS + "sub.s32 %r3, %i, 1; max.s32 %r4, %r3, 0;\n"
                                            "min.s32 %r5, %r4, %n; mul.wide.s32 %d1, %r5, 4;\n"
                                            "add.s64 %d2, %p, %d1; ld.global.u32 %r6, [%d2];\n"
                                            "rem.s32 %r7, %i, %n; mul.wide.s32 %d3, %r7, 8;\n"
                                            "add.s64 %d4, %p, %d3; ld.global.u32 %r8, [%d4];\n"
                                            "mul.wide.s32 %d5, %r1, 4; add.s64 %d6, %p, %d5;\n"
                                            "st.global.v2.u32 [%d6], {%r6, %r8}; ret;\n");
    Addresses addresses(k.graph, Version::Full);
    const auto is_adjacent = [&](const char* text, std::int64_t bytes) {
        const Address* const address = addresses.parts(result(k, text));
        return address != nullptr && addresses.is_probably_adjacent(*address, bytes);
    };
    EXPECT_EQ(k.lanes("min.s32"), "VV");
    ASSERT_NE(addresses.probable_offsets(result(k, "min.s32")), nullptr);
    EXPECT_EQ(addresses.probable_offsets(result(k, "min.s32"))->at(7), 7);
    EXPECT_TRUE(is_adjacent("add.s64 %d2", 4));
    EXPECT_FALSE(is_adjacent("add.s64 %d2", 8));
    EXPECT_TRUE(is_adjacent("add.s64 %d4", 8));
    EXPECT_FALSE(is_adjacent("add.s64 %d6", 4));
}

TEST(Address, comparisons_of_probable_values_are_probably_uniform) {
    const Analysed k = analyse_body(LOADS + "setp.lt.s32 %q1, %i, %n; setp.lt.s32 %q2, %r1, %n;\n"
                                            "selp.b32 %r3, 1, 2, %q1; selp.b32 %r4, 1, 2, %q2;\n"
                                            "st.global.v2.u32 [%p], {%r3, %r4}; ret;\n");
    Addresses addresses(k.graph, Version::Full);
    const auto* const same = addresses.probable_offsets(result(k, "setp.lt.s32 %q1"));
    ASSERT_NE(same, nullptr);
    EXPECT_TRUE(same->empty());
    EXPECT_NE(addresses.probable_offsets(result(k, "selp.b32 %r3")), nullptr);
    EXPECT_EQ(addresses.probable_offsets(result(k, "setp.lt.s32 %q2")), nullptr);
}

} // namespace

} // namespace cuprum::emulator
