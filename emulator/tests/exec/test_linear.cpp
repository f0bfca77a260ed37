// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Registers that hold a base and steps instead of 32 lanes. They must give the same results as
// separate lanes, in blocks of any shape and in divergent code.

#include "bytecode/forms.hpp"
#include "support/operation.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;
using U = std::uint32_t;

constexpr U TABLE_SIZE = 4096;

/// Returns whether the current level has handlers for linear registers. The others always use
/// separate lanes.
bool has_linear_handlers() {
    return selectors().linear_move({.op = MoveOp::Copy}) != nullptr;
}

/// A kernel that computes an index %i from %x and %y (the thread) and %n (a parameter, 3), and
/// writes table[%i] to the thread's own place.
std::string lookup(const std::string& code) {
    return ptx_module(".visible .entry k(.param .u64 out, .param .u64 table, .param .u32 n) {\n"
                      ".reg .pred %p<4>; .reg .b32 %x, %y, %n, %i, %j, %t, %w, %v;\n"
                      ".reg .b64 %a, %b, %c, %d;\n"
                      "ld.param.u64 %a, [out]; ld.param.u64 %b, [table]; ld.param.u32 %n, [n];\n"
                      "mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %w, %ntid.x;\n"
                      "mad.lo.u32 %t, %y, %w, %x;\n" +
                      code +
                      "\nmul.wide.u32 %c, %i, 4; add.u64 %c, %b, %c; ld.global.u32 %v, [%c];\n"
                      "mul.wide.u32 %d, %t, 4; add.u64 %d, %a, %d; st.global.u32 [%d], %v;\n"
                      "ret;\n}");
}

struct Dimensions {
    U x = 32;
    U y = 1;
};

/// Runs a lookup in blocks of several shapes and compares it with what a single thread computes.
void expect_lookups(const std::string& code, const std::function<U(U x, U y, U n)>& index) {
    constexpr U n = 3;
    for (const Dimensions size : {Dimensions{32, 1}, Dimensions{32, 4}, Dimensions{64, 2},
                                  Dimensions{16, 8}, Dimensions{8, 8}, Dimensions{4, 16},
                                  Dimensions{5, 7}, Dimensions{1, 40}, Dimensions{48, 2}}) {
        TestDevice device;
        auto* out = device.allocate<U>(1024);
        auto* table = device.allocate<U>(TABLE_SIZE);
        for (U i = 0; i < TABLE_SIZE; ++i) {
            table[i] = i * 2654435761u;
        }
        const auto kernel = device.compile(lookup(code));
        ASSERT_TRUE(kernel) << device.log;
        EXPECT_EQ(kernel->linear_slots.empty(), !has_linear_handlers()) << code;
        const Fault fault =
            Launch(device, kernel, Shape{.block = size.x, .block_y = size.y}, out, table, n).wait();
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report << "\n" << code;
        for (U y = 0; y < size.y; ++y) {
            for (U x = 0; x < size.x; ++x) {
                EXPECT_EQ(out[y * size.x + x], table[index(x, y, n)])
                    << code << "\nthread " << x << ", " << y << " of " << size.x << " x " << size.y;
            }
        }
    }
}

class Linear : public test::OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(Levels, Linear, test::LEVELS,
                         [](const auto& each) { return std::string(each.param); });

} // namespace

TEST_P(Linear, sums_and_products) {
    expect_lookups("add.u32 %i, %x, %y;", [](U x, U y, U) { return x + y; });
    expect_lookups("mul.lo.u32 %i, %y, %n; sub.u32 %i, %i, %y; add.u32 %i, %i, 7;",
                   [](U, U y, U n) { return y * n - y + 7; });
    expect_lookups("mad.lo.s32 %i, %x, %n, %y;", [](U x, U y, U n) { return x * n + y; });
    expect_lookups("sub.u32 %i, 200, %x;", [](U x, U, U) { return 200 - x; });
}

TEST_P(Linear, products_of_values_that_differ_from_lane_to_lane) {
    expect_lookups("mul.lo.u32 %i, %x, %y;", [](U x, U y, U) { return x * y; });
    expect_lookups("mad.lo.u32 %i, %x, %x, %y; and.b32 %i, %i, 4095;",
                   [](U x, U y, U) { return (x * x + y) & 4095; });
}

TEST_P(Linear, shifts_and_bits) {
    expect_lookups("shl.b32 %i, %x, %n;", [](U x, U, U n) { return x << n; });
    expect_lookups("shl.b32 %i, %x, 40; add.u32 %i, %i, %n;", [](U, U, U n) { return n; });
    expect_lookups("shl.b32 %j, 1, %y; and.b32 %i, %j, 255;",
                   [](U, U y, U) { return (y < 32 ? 1u << y : 0) & 255; });
    expect_lookups("shr.u32 %i, 1000, %n; or.b32 %i, %i, 1; xor.b32 %i, %i, %n;",
                   [](U, U, U n) { return (1000 >> n | 1) ^ n; });
    expect_lookups("shr.s32 %j, -64, %n; sub.s32 %i, 0, %j; add.s32 %i, %i, %x;",
                   [](U x, U, U) { return 8 + x; });
}

TEST_P(Linear, indices_that_wrap_before_they_are_widened) {
    // Each lane wraps at 2^32 separately: x - 5 is large for small x.
    expect_lookups("add.u32 %j, %x, -5; shr.u32 %j, %j, 20; and.b32 %i, %j, 4095;",
                   [](U x, U, U) { return (x - 5) >> 20 & 4095; });
    expect_lookups("add.u32 %j, %x, -5; cvt.u64.u32 %c, %j; shr.u64 %c, %c, 20;\n"
                   "cvt.u32.u64 %i, %c; and.b32 %i, %i, 4095;",
                   [](U x, U, U) { return (x - 5) >> 20 & 4095; });
    expect_lookups("add.u32 %j, %x, 2147483640; cvt.s64.s32 %c, %j; shr.u64 %c, %c, 50;\n"
                   "cvt.u32.u64 %i, %c; and.b32 %i, %i, 4095;",
                   [](U x, U, U) {
                       const auto wide =
                           static_cast<std::int64_t>(static_cast<std::int32_t>(x + 2147483640u));
                       return static_cast<U>(static_cast<std::uint64_t>(wide) >> 50) & 4095;
                   });
    expect_lookups("mul.wide.s32 %c, %x, -3; add.s64 %c, %c, 600; cvt.u32.u64 %i, %c;",
                   [](U x, U, U) { return 600 - 3 * x; });
    expect_lookups("sub.s32 %j, %x, %y; mad.wide.s32 %c, %j, %n, 300; cvt.u32.u64 %i, %c;",
                   [](U x, U y, U n) { return (x - y) * n + 300; });
}

TEST_P(Linear, lanes_that_part) {
    // Every thread makes a different number of steps.
    expect_lookups("mov.u32 %i, 0; mov.u32 %j, 0;\n"
                   "LOOP: setp.ge.u32 %p1, %j, %x; @%p1 bra DONE;\n"
                   "add.u32 %i, %i, 2; add.u32 %j, %j, 1; bra LOOP;\nDONE:",
                   [](U x, U, U) { return 2 * x; });
    // Only one side of a branch writes a register that both read.
    expect_lookups("add.u32 %i, %y, 1; and.b32 %j, %x, 1; setp.eq.u32 %p1, %j, 0;\n"
                   "@%p1 bra EVEN; add.u32 %i, %n, 40; EVEN: add.u32 %i, %i, 1;",
                   [](U x, U y, U n) { return x % 2 == 0 ? y + 2 : n + 41; });
    // A guarded write.
    expect_lookups("mov.u32 %i, %n; setp.gt.u32 %p1, %x, 6; @%p1 add.u32 %i, %x, %y;",
                   [](U x, U y, U n) { return x > 6 ? x + y : n; });
}

TEST_P(Linear, a_value_whose_lanes_are_read_as_well) {
    expect_lookups("add.u32 %j, %x, %n; popc.b32 %v, %j; setp.lt.u32 %p1, %v, 3;\n"
                   "selp.u32 %v, 1, 0, %p1; mul.lo.u32 %i, %j, 2; mov.u32 %t, %t;",
                   [](U x, U, U n) { return 2 * (x + n); });
    expect_lookups("mov.u32 %i, 0; mov.u32 %v, 0;\n"
                   "LOOP: popc.b32 %j, %i; add.u32 %v, %v, %j; add.u32 %i, %i, 1;\n"
                   "setp.lt.u32 %p1, %i, 20; @%p1 bra LOOP; and.b32 %v, %v, 0;\n"
                   "add.u32 %i, %i, %x;",
                   [](U x, U, U) { return 20 + x; });
}

TEST_P(Linear, elements_of_every_size_in_every_pattern) {
    for (const U bytes : {1u, 2u, 4u, 8u}) {
        for (const Dimensions size : {Dimensions{32, 2}, Dimensions{16, 4}, Dimensions{8, 4}}) {
            const std::string type = bytes == 8   ? "u64"
                                     : bytes == 4 ? "u32"
                                     : bytes == 2 ? "s16"
                                                  : "s8";
            const std::string name = bytes == 8 ? "%e" : "%v";
            const std::string width = std::to_string(bytes);
            TestDevice device;
            auto* in = device.allocate<std::byte>(1024);
            auto* out = device.allocate<std::byte>(1024);
            for (std::size_t i = 0; i < 1024; ++i) {
                in[i] = static_cast<std::byte>(i * 37 + 11);
            }
            // Row y reads along x, adds the first value of the next row, and writes.
            const auto kernel = device.compile(
                ptx_module(".visible .entry k(.param .u64 in, .param .u64 out) {\n"
                           ".reg .b32 %x, %y, %w, %t, %v, %r; .reg .b64 %a, %b, %c, %d, %e, %s;\n"
                           "ld.param.u64 %a, [in]; ld.param.u64 %b, [out];\n"
                           "mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %w, %ntid.x;\n"
                           "mad.lo.u32 %t, %y, %w, %x;\n"
                           "mul.wide.u32 %c, %t, " +
                           width +
                           "; add.u64 %d, %a, %c;\n"
                           "ld.global." +
                           type + " " + name +
                           ", [%d];\n"
                           "mul.wide.u32 %d, %y, " +
                           width +
                           "; add.u64 %d, %a, %d;\n"
                           "ld.global." +
                           type + (bytes == 8 ? " %s" : " %r") + ", [%d+" + width + "];\n" +
                           (bytes == 8 ? "add.u64 %e, %e, %s;\n" : "add.u32 %v, %v, %r;\n") +
                           "add.u64 %d, %b, %c; st.global.b" + std::to_string(bytes * 8) +
                           " [%d], " + name + ";\nret;\n}"));
            ASSERT_TRUE(kernel) << device.log;
            ASSERT_EQ(Launch(device, kernel, Shape{.block = size.x, .block_y = size.y}, in, out)
                          .wait()
                          .kind,
                      FaultKind::None);
            for (U t = 0; t < size.x * size.y; ++t) {
                std::uint64_t own = 0;
                std::uint64_t other = 0;
                std::uint64_t written = 0;
                std::memcpy(&own, in + std::size_t{t} * bytes, bytes);
                std::memcpy(&other, in + (std::size_t{t} / size.x + 1) * bytes, bytes);
                std::memcpy(&written, out + std::size_t{t} * bytes, bytes);
                const std::uint64_t all = bytes == 8 ? ~0ull : (1ull << bytes * 8) - 1;
                EXPECT_EQ(written, (own + other) & all) << bytes << " bytes, thread " << t;
            }
        }
    }
}

TEST_P(Linear, vectors_at_one_address_for_all_lanes) {
    TestDevice device;
    auto* in = device.allocate<U>(16);
    auto* out = device.allocate<U>(8);
    for (U i = 0; i < 16; ++i) {
        in[i] = 100 + i;
    }
    const auto kernel = device.compile(ptx_module(
        ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
        ".reg .b32 %r<8>; .reg .b64 %a, %b, %c, %d;\n"
        "ld.param.u64 %a, [in]; ld.param.u64 %b, [out]; add.u64 %c, %a, 16; add.u64 %d, %b, 16;\n"
        "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%c+16];\n"
        "ld.global.v2.u32 {%r4, %r5}, [%c+8];\n"
        "st.global.v4.u32 [%d+-16], {%r0, %r1, %r2, %r3};\n"
        "st.global.v2.u32 [%d+8], {%r4, %r5};\nret;\n}"));
    ASSERT_TRUE(kernel) << device.log;
    ASSERT_EQ(Launch(device, kernel, Shape{.block = 32}, in, out).wait().kind, FaultKind::None);
    EXPECT_EQ(std::vector<U>(out, out + 8), (std::vector<U>{108, 109, 110, 111, 0, 0, 106, 107}));
}

TEST_P(Linear, an_address_just_below_shared_memory_is_a_fault) {
    // 64 bits wide: the sum of address and size wraps around to zero.
    TestDevice device;
    const auto kernel = device.compile(
        ptx_module(".visible .entry k() {\n.shared .align 4 .b8 tile[256];\n"
                   ".reg .b32 %r<4>; .reg .b64 %a, %b;\n"
                   "mov.u64 %a, tile; sub.u64 %b, %a, 128; ld.shared.u32 %r1, [%b+124];\n"
                   "st.shared.u32 [%b+128], %r1; mov.u32 %r2, %tid.x; mul.wide.u32 %a, %r2, 4;\n"
                   "add.u64 %b, %b, %a; st.shared.u32 [%b], %r1;\nret;\n}"));
    ASSERT_TRUE(kernel) << device.log;
    const Fault fault = Launch(device, kernel, Shape{.block = 32}).wait();
    EXPECT_EQ(fault.kind, FaultKind::IllegalAddress) << fault.report;
}

TEST(FindLinear, addresses_and_counters_are_linear_and_data_is_not) {
    TestDevice device;
    const auto kernel = device.compile(lookup("add.u32 %i, %x, %n;"));
    ASSERT_TRUE(kernel) << device.log;
    EXPECT_EQ(kernel->linear_slots.empty(), !has_linear_handlers());
    // Values that are computed from loaded values are never linear.
    const auto loaded = device.compile(
        ptx_module(".visible .entry k(.param .u64 a) {\n"
                   ".reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                   "ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1];\n"
                   "add.u32 %r2, %r1, 1; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;\n"
                   "st.global.u32 [%rd3], %r1;\nret;\n}"));
    ASSERT_TRUE(loaded) << device.log;
    EXPECT_TRUE(loaded->linear_slots.empty());
}

TEST(FindLinear, an_index_whose_lanes_are_read_once_keeps_its_address_linear) {
    // As compilers write fetches: one instruction reads the lanes of the index, and one its head.
    TestDevice device;
    const auto kernel = device.compile(
        ptx_module(".visible .entry k(.param .u64 a, .param .u32 n) {\n"
                   ".reg .b32 %r<6>; .reg .f32 %f<2>; .reg .b64 %rd<4>;\n"
                   "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
                   "mad.lo.u32 %r3, %r1, 8, %r2; cvt.rn.f32.u32 %f0, %r3; add.f32 %f1, %f0, %f0;\n"
                   "mad.lo.u32 %r4, %r1, %r1, %r3; mul.wide.u32 %rd2, %r4, 4;\n"
                   "add.u64 %rd3, %rd1, %rd2; st.global.f32 [%rd3], %f1;\nret;\n}"));
    ASSERT_TRUE(kernel) << device.log;
    const auto is_linear = [](const bytecode::Instruction& each) {
        return each.form.variant == bytecode::Variant::Linear &&
               each.form.family() == bytecode::Family::Memory;
    };
    EXPECT_EQ(std::any_of(kernel->code.begin(), kernel->code.end(), is_linear),
              has_linear_handlers());
    auto* out = device.allocate<float>(64);
    const Fault fault = Launch(device, kernel, Shape{.block = 32}, out, 3u).wait();
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (U i = 0; i < 32; ++i) {
        EXPECT_EQ(out[9 + 24 + i], static_cast<float>(2 * (24 + i)));
    }
}

TEST(FindLinear, a_fault_at_a_linear_address_names_the_lane) {
    TestDevice device;
    auto* out = device.allocate<U>(32);
    auto* table = device.allocate<U>(32);
    const auto kernel = device.compile(lookup("mul.lo.u32 %i, %x, 1000000;"));
    ASSERT_TRUE(kernel) << device.log;
    const Fault fault = Launch(device, kernel, Shape{}, out, table, 3u).wait();
    EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
    EXPECT_NE(fault.report.find("thread (1, 0, 0)"), std::string::npos) << fault.report;
}

} // namespace cuprum::emulator
