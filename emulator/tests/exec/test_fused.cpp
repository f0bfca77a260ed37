// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Two loads and a multiply-add that one handler executes. The result must be the same as one by
// one, wherever the loads read and however the lanes are arranged.

#include "bytecode/forms.hpp"
#include "support/operation.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;
using U = std::uint32_t;

constexpr U COUNT = 256;

/// One way to address memory: PTX that computes %c from the base %a, and the element at that
/// address.
struct Pattern {
    const char* code;
    U (*index)(U x, U y, U width);
};

constexpr Pattern PATTERNS[] = {
    {"mad.lo.u32 %i, %y, %w, %x; mul.wide.u32 %c, %i, 4; add.u64 %c, %a, %c;\n",
     [](U x, U y, U width) { return y * width + x; }},
    {"add.u64 %c, %a, 12;\n", [](U, U, U) { return 3u; }},
    {"mul.wide.u32 %c, %y, 4; add.u64 %c, %a, %c;\n", [](U, U y, U) { return y; }},
    {"mul.wide.u32 %c, %x, 4; add.u64 %c, %a, %c;\n", [](U x, U, U) { return x; }},
    {"mul.wide.u32 %c, %x, 8; add.u64 %c, %a, %c;\n", [](U x, U, U) { return 2 * x; }},
};

std::string with_base(const char* code, const std::string& base, const std::string& address) {
    std::string text = code;
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"%a", base},
                                   std::pair<std::string, std::string>{"%c", address}}) {
        for (std::size_t at = text.find(from); at != std::string::npos;
             at = text.find(from, at + to.size())) {
            text.replace(at, from.size(), to);
        }
    }
    return text;
}

/// A multiply-add, and the function that it computes.
struct Role {
    const char* operands;
    float (*value)(float first, float second, float other);
};

constexpr Role ROLES[] = {
    {"%f, %g, %h", [](float f, float g, float h) { return std::fma(f, g, h); }},
    {"%g, %f, %h", [](float f, float g, float h) { return std::fma(g, f, h); }},
    {"%f, %h, %g", [](float f, float g, float h) { return std::fma(f, h, g); }},
    {"%h, %f, %g", [](float f, float g, float h) { return std::fma(h, f, g); }},
    {"%g, %h, %f", [](float f, float g, float h) { return std::fma(g, h, f); }},
    {"%f, %f, %g", [](float f, float g, float) { return std::fma(f, f, g); }},
};

class Fused : public test::OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(Levels, Fused, test::LEVELS,
                         [](const auto& each) { return std::string(each.param); });

void expect_fused(const Pattern& first, const Pattern& second, const Role& role, bool is_shared,
                  U width, U height) {
    TestDevice device;
    auto* in = device.allocate<float>(COUNT);
    auto* out = device.allocate<float>(COUNT);
    for (U i = 0; i < COUNT; ++i) {
        in[i] = 1.0F + 0.001F * static_cast<float>(i * i % 97);
    }
    in[5] = std::numeric_limits<float>::quiet_NaN();
    const std::string space = is_shared ? "shared" : "global";
    const std::string base = is_shared ? "%s" : "%in";
    const auto kernel = device.compile(ptx_module(
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .f32 h) {\n"
        ".shared .align 16 .b8 tile[1024];\n"
        ".reg .pred %p; .reg .b32 %x, %y, %w, %i, %t, %n; .reg .f32 %f, %g, %h, %r, %v;\n"
        ".reg .b64 %in, %out, %s, %c, %d, %e;\n"
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.f32 %h, [h];\n"
        "mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %w, %ntid.x; mov.u64 %s, tile;\n"
        // Every thread copies all input to shared memory.
        "mov.u32 %n, 0;\nCOPY: mul.wide.u32 %e, %n, 4; add.u64 %d, %in, %e;\n"
        "ld.global.f32 %v, [%d]; add.u64 %d, %s, %e; st.shared.f32 [%d], %v;\n"
        "add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 256; @%p bra COPY;\n" +
        with_base(first.code, base, "%c") + with_base(second.code, base, "%d") + "ld." + space +
        ".f32 %f, [%c];\nld." + space + ".f32 %g, [%d];\nfma.rn.f32 %r, " + role.operands +
        ";\nmad.lo.u32 %t, %y, %w, %x; mul.wide.u32 %e, %t, 4; add.u64 %e, %out, %e;\n"
        "st.global.f32 [%e], %r;\nret;\n}"));
    ASSERT_TRUE(kernel) << device.log;
    constexpr float h = 0.75F;
    const Fault fault =
        Launch(device, kernel, Shape{.block = width, .block_y = height}, in, out, h).wait();
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (U t = 0; t < width * height; ++t) {
        const U x = t % width;
        const U y = t / width;
        const float wanted =
            role.value(in[first.index(x, y, width)], in[second.index(x, y, width)], h);
        U bits = 0;
        U wanted_bits = 0;
        std::memcpy(&bits, out + t, sizeof bits);
        std::memcpy(&wanted_bits, &wanted, sizeof wanted_bits);
        EXPECT_EQ(bits, std::isnan(wanted) ? 0x7fffffffu : wanted_bits)
            << role.operands << ", " << space << ", thread " << t << " of " << width << " x "
            << height;
    }
}

} // namespace

TEST_P(Fused, every_pattern_with_every_other) {
    for (const Pattern& first : PATTERNS) {
        for (const Pattern& second : PATTERNS) {
            for (const bool is_shared : {false, true}) {
                expect_fused(first, second, ROLES[0], is_shared, 32, 2);
                expect_fused(first, second, ROLES[2], is_shared, 16, 4);
            }
        }
    }
}

TEST_P(Fused, every_role) {
    for (const Role& role : ROLES) {
        expect_fused(PATTERNS[0], PATTERNS[1], role, false, 64, 1);
        expect_fused(PATTERNS[2], PATTERNS[3], role, true, 16, 2);
        expect_fused(PATTERNS[0], PATTERNS[4], role, true, 20, 3);
    }
}

TEST_P(Fused, factors_that_a_loop_reads_again) {
    TestDevice device;
    auto* in = device.allocate<float>(64);
    for (U i = 0; i < 64; ++i) {
        in[i] = static_cast<float>(i + 1);
    }
    const auto kernel = device.compile(
        ptx_module(".visible .entry k(.param .u64 in) {\n"
                   ".reg .pred %p; .reg .f32 %f, %g, %h; .reg .b32 %t, %n; .reg .b64 %a, %b;\n"
                   "ld.param.u64 %a, [in]; mov.u32 %t, %tid.x; mul.wide.u32 %b, %t, 4;\n"
                   "add.u64 %a, %a, %b; mov.f32 %h, 0f00000000; mov.u32 %n, 0;\n"
                   "ld.global.f32 %f, [%a]; ld.global.f32 %g, [%a+128];\n"
                   "AGAIN: fma.rn.f32 %h, %f, %g, %h; add.u32 %n, %n, 1;\n"
                   "setp.lt.u32 %p, %n, 3; @%p bra AGAIN;\nst.global.f32 [%a], %h;\nret;\n}"));
    ASSERT_TRUE(kernel) << device.log;
    ASSERT_EQ(Launch(device, kernel, Shape{.block = 32}, in).wait().kind, FaultKind::None);
    for (U i = 0; i < 32; ++i) {
        EXPECT_EQ(in[i], static_cast<float>(3 * (i + 1) * (i + 33))) << "thread " << i;
    }
}

TEST(FuseLoads, takes_two_loads_that_only_the_sum_reads) {
    TestDevice device;
    const auto variants = [&](const std::string& rest) {
        const auto kernel = device.compile(
            ptx_module(".visible .entry k(.param .u64 a) {\n"
                       ".reg .f32 %f<6>; .reg .b32 %r<3>; .reg .b64 %rd<4>;\n"
                       "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
                       "add.u64 %rd3, %rd1, %rd2;\n"
                       "ld.global.f32 %f1, [%rd3]; ld.global.f32 %f2, [%rd3+128];\n"
                       "fma.rn.f32 %f3, %f1, %f2, 0f3f800000;\n" +
                       rest + "st.global.f32 [%rd3], %f3;\nret;\n}"));
        EXPECT_TRUE(kernel) << device.log;
        std::vector<bytecode::Variant> loads;
        for (const bytecode::Instruction& instruction : kernel->code) {
            if (instruction.access_bytes == 4 && instruction.dst_count == 1) {
                loads.push_back(instruction.form.variant);
            }
        }
        return loads;
    };
    const auto fused = variants("");
    ASSERT_EQ(fused.size(), 2u);
    // Fusing requires linear handlers.
    EXPECT_EQ(fused[0] == fused[1], selectors().linear_memory({}) == nullptr);
    const auto apart = variants("add.f32 %f3, %f3, %f1;\n");
    ASSERT_EQ(apart.size(), 2u);
    EXPECT_EQ(apart[0], apart[1]);
}

} // namespace cuprum::emulator
