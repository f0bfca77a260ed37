// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Chains of products that one handler adds up, as in unrolled dot products. The result must be the
// same as one by one, and faults must name the same place.

#include "bytecode/forms.hpp"
#include "support/operation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

using bytecode::Variant;
using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;
using U = std::uint32_t;

constexpr U SIZE = 64; // of the square matrices

class Chains : public test::OnEveryLevel {};

INSTANTIATE_TEST_SUITE_P(Levels, Chains, test::LEVELS,
                         [](const auto& each) { return std::string(each.param); });

/// A kernel that computes a row of A times the columns of B, four products per round.
///
/// `step` is the PTX between two products. It must add `stride` bytes to the address of B.
std::string product_of_matrices(const std::string& step) {
    std::string text =
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 stride) {\n"
        ".reg .pred %p; .reg .b32 %x, %y, %w, %h, %n, %i; .reg .f32 %f<13>;\n"
        ".reg .b64 %a, %b, %c, %s, %d, %e;\n"
        "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c];\n"
        "ld.param.u64 %s, [stride];\n"
        "mov.u32 %w, %ntid.x; mov.u32 %x, %tid.x; mov.u32 %i, %ctaid.x; mad.lo.u32 %x, %i, %w, "
        "%x;\n"
        "mov.u32 %h, %ntid.y; mov.u32 %y, %tid.y; mov.u32 %i, %ctaid.y; mad.lo.u32 %y, %i, %h, "
        "%y;\n"
        "mul.wide.u32 %d, %y, 256; add.u64 %a, %a, %d;\n"
        "mul.wide.u32 %d, %x, 4; add.u64 %b, %b, %d;\n"
        "mov.f32 %f0, 0f00000000; mov.u32 %n, 0;\n"
        "NEXT:\n";
    for (int i = 0; i < 4; ++i) {
        const std::string a = "%f" + std::to_string(5 + i);
        const std::string b = "%f" + std::to_string(9 + i);
        text += "ld.global.f32 " + a + ", [%a+" + std::to_string(4 * i) + "];\nld.global.f32 " + b +
                ", [%b];\nfma.rn.f32 %f" + std::to_string(i + 1) + ", " + a + ", " + b + ", %f" +
                std::to_string(i) + ";\n" + step;
    }
    return text + "mov.f32 %f0, %f4; add.u64 %a, %a, 16; add.u32 %n, %n, 4;\n"
                  "setp.lt.u32 %p, %n, 64; @%p bra NEXT;\n"
                  "mad.lo.u32 %i, %y, 64, %x; mul.wide.u32 %d, %i, 4; add.u64 %c, %c, %d;\n"
                  "st.global.f32 [%c], %f0;\nret;\n}";
}

U bits_of(float value) {
    U bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return std::isnan(value) ? 0x7fffffffu : bits;
}

void expect_product(const std::string& source, U width, U height) {
    TestDevice device;
    auto* a = device.allocate<float>(SIZE * SIZE);
    auto* b = device.allocate<float>(SIZE * SIZE);
    auto* c = device.allocate<float>(SIZE * SIZE);
    for (U i = 0; i < SIZE * SIZE; ++i) {
        a[i] = 1.0F + 0.001F * static_cast<float>(i * i % 97);
        b[i] = 2.0F - 0.003F * static_cast<float>(i * 7 % 89);
    }
    a[SIZE * 3 + 5] = std::numeric_limits<float>::signaling_NaN();
    b[SIZE * 40 + 7] = std::numeric_limits<float>::infinity();
    b[SIZE * 41 + 7] = -std::numeric_limits<float>::infinity();
    const auto kernel = device.compile(ptx_module(source));
    ASSERT_TRUE(kernel) << device.log;
    const std::uint64_t stride = 4 * SIZE;
    for (U y = 0; y < SIZE; y += height) { // launches one row of blocks after the other
        const Fault fault =
            Launch(device, kernel, Shape{.grid = SIZE / width, .block = width, .block_y = height},
                   a + y * SIZE, b, c + y * SIZE, stride)
                .wait();
        ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    }
    for (U y = 0; y < SIZE; ++y) {
        for (U x = 0; x < SIZE; ++x) {
            float sum = 0;
            for (U k = 0; k < SIZE; ++k) {
                sum = std::fma(a[y * SIZE + k], b[k * SIZE + x], sum);
            }
            ASSERT_EQ(bits_of(c[y * SIZE + x]), bits_of(sum))
                << "row " << y << ", column " << x << ", blocks of " << width << " x " << height;
        }
    }
}

constexpr const char* ADD = "add.u64 %b, %b, %s;\n";

std::vector<Variant> variants_of(const bytecode::Kernel& kernel) {
    std::vector<Variant> variants;
    for (const bytecode::Instruction& instruction : kernel.code) {
        variants.push_back(instruction.form.variant);
    }
    return variants;
}

} // namespace

TEST_P(Chains, products_are_those_of_single_steps) {
    const std::string source = product_of_matrices(ADD);
    for (const auto& [width, height] : {std::pair{32u, 2u}, std::pair{64u, 1u}, std::pair{16u, 4u},
                                        std::pair{8u, 8u}, std::pair{16u, 1u}, std::pair{4u, 2u}}) {
        expect_product(source, width, height);
    }
}

TEST_P(Chains, other_instructions_may_come_between) {
    const std::string source = product_of_matrices("shr.u64 %d, %s, 1; add.u64 %b, %b, %d; "
                                                   "add.u64 %b, %b, %d;\n");
    expect_product(source, 32, 2);
    expect_product(source, 16, 4);
}

TEST_P(Chains, loads_may_stand_before_the_address_of_the_next) {
    TestDevice device;
    auto* x = device.allocate<float>(256);
    auto* y = device.allocate<float>(256);
    for (U i = 0; i < 256; ++i) {
        x[i] = static_cast<float>(i) * 0.5F;
        y[i] = static_cast<float>(i) + 3;
    }
    const auto kernel = device.compile(
        ptx_module(".visible .entry k(.param .u64 x, .param .u64 y, .param .f32 a) {\n"
                   ".reg .f32 %f<5>; .reg .b32 %r<5>; .reg .b64 %rd<8>;\n"
                   "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.f32 %f1, [a];\n"
                   "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
                   "mad.lo.s32 %r4, %r1, %r2, %r3; mul.wide.s32 %rd3, %r4, 4;\n"
                   "add.s64 %rd4, %rd1, %rd3; ld.global.f32 %f2, [%rd4];\n"
                   "add.s64 %rd5, %rd2, %rd3; ld.global.f32 %f3, [%rd5];\n"
                   "fma.rn.f32 %f4, %f2, %f1, %f3; st.global.f32 [%rd5], %f4;\nret;\n}"));
    ASSERT_TRUE(kernel) << device.log;
    const auto variants = variants_of(*kernel);
    EXPECT_EQ(std::count(variants.begin(), variants.end(), Variant::FusedAddsSecond),
              selectors().linear_memory({}) != nullptr ? 1 : 0);
    const Fault fault = Launch(device, kernel, Shape{.grid = 4, .block = 64}, x, y, 1.5F).wait();
    ASSERT_EQ(fault.kind, FaultKind::None) << fault.report;
    for (U i = 0; i < 256; ++i) {
        EXPECT_EQ(y[i], std::fma(x[i], 1.5F, static_cast<float>(i) + 3));
    }
}

TEST_P(Chains, a_fault_names_the_load_in_the_middle) {
    TestDevice device;
    auto* a = device.allocate<float>(SIZE * SIZE);
    auto* b = device.allocate<float>(SIZE * SIZE);
    auto* c = device.allocate<float>(SIZE * SIZE);
    const std::string source = ptx_module(product_of_matrices(ADD));
    const auto kernel = device.compile(source);
    ASSERT_TRUE(kernel) << device.log;
    const std::uint64_t far = std::uint64_t{1} << 40; // the second product is outside all memory
    const Fault fault = Launch(device, kernel, Shape{.block = 32}, a, b, c, far).wait();
    EXPECT_EQ(fault.kind, FaultKind::IllegalAddress);
    const std::size_t second = source.find("[%b];", source.find("[%b];") + 1);
    const auto line = std::count(source.begin(), source.begin() + static_cast<long>(second), '\n');
    EXPECT_NE(fault.report.find("line " + std::to_string(line + 1)), std::string::npos)
        << fault.report;
}

TEST_P(Chains, sums_that_others_read_are_stored) {
    TestDevice device;
    auto* in = device.allocate<float>(256);
    auto* out = device.allocate<float>(64);
    for (U i = 0; i < 256; ++i) {
        in[i] = static_cast<float>(i + 1);
    }
    const auto kernel = device.compile(
        ptx_module(".visible .entry k(.param .u64 in, .param .u64 out) {\n"
                   ".reg .f32 %f<9>; .reg .b32 %t; .reg .b64 %a, %b, %o;\n"
                   "ld.param.u64 %a, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"
                   "mul.wide.u32 %b, %t, 4; add.u64 %a, %a, %b; add.u64 %o, %o, %b;\n"
                   "ld.global.f32 %f1, [%a]; ld.global.f32 %f2, [%a+128];\n"
                   "fma.rn.f32 %f3, %f1, %f2, 0f3f800000;\n"
                   "ld.global.f32 %f4, [%a+256]; ld.global.f32 %f5, [%a+384];\n"
                   "fma.rn.f32 %f6, %f4, %f5, %f3;\n"
                   "st.global.f32 [%o], %f3; st.global.f32 [%o+128], %f6;\nret;\n}"));
    ASSERT_TRUE(kernel) << device.log;
    ASSERT_EQ(Launch(device, kernel, Shape{.block = 32}, in, out).wait().kind, FaultKind::None);
    for (U i = 0; i < 32; ++i) {
        const float first = std::fma(in[i], in[i + 32], 1.0F);
        EXPECT_EQ(out[i], first);
        EXPECT_EQ(out[i + 32], std::fma(in[i + 64], in[i + 96], first));
    }
    const auto variants = variants_of(*kernel);
    EXPECT_EQ(std::count(variants.begin(), variants.end(), Variant::FusedChain), 0);
}

TEST_P(Chains, signs_of_zeros_are_kept) {
    // -0 + -0 * 1 is -0. All lanes read the same -0, alone and in a chain.
    constexpr U NEGATIVE_ZERO = 0x80000000;
    const std::string product = "ld.global.f32 %f1, [%a]; ld.global.f32 %f2, [%b];\n"
                                "fma.rn.f32 %f0, %f1, %f2, %f0;\n";
    const std::string next = "ld.global.f32 %f3, [%a+4]; ld.global.f32 %f4, [%b];\n"
                             "fma.rn.f32 %f0, %f3, %f4, %f0;\n";
    for (const std::string& products : {product, product + next}) {
        for (const U threads : {32u, 128u}) {
            TestDevice device;
            auto* zeros = device.allocate<float>(2);
            auto* ones = device.allocate<float>(threads);
            zeros[0] = zeros[1] = -0.0F;
            std::fill_n(ones, threads, 1.0F);
            const auto kernel = device.compile(
                ptx_module(".visible .entry k(.param .u64 a, .param .u64 b) {\n"
                           ".reg .f32 %f<5>; .reg .b32 %t; .reg .b64 %a, %b, %d;\n"
                           "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; mov.u32 %t, %tid.x;\n"
                           "mul.wide.u32 %d, %t, 4; add.u64 %b, %b, %d; mov.f32 %f0, 0f80000000;\n"
                           "mov.u32 %t, %tid.y; mul.wide.u32 %d, %t, 4; add.u64 %a, %a, %d;\n" +
                           products + "st.global.f32 [%b], %f0;\nret;\n}"));
            ASSERT_TRUE(kernel) << device.log;
            ASSERT_EQ(Launch(device, kernel, Shape{.block = threads}, zeros, ones).wait().kind,
                      FaultKind::None);
            for (U i = 0; i < threads; ++i) {
                EXPECT_EQ(bits_of(ones[i]), NEGATIVE_ZERO) << "thread " << i << " of " << threads;
            }
        }
    }
}

TEST_P(Chains, are_found_where_a_sum_has_one_reader) {
    TestDevice device;
    const auto kernel = device.compile(ptx_module(product_of_matrices(ADD)));
    ASSERT_TRUE(kernel) << device.log;
    const auto variants = variants_of(*kernel);
    const bool has_linear = selectors().linear_memory({}) != nullptr;
    EXPECT_EQ(std::count(variants.begin(), variants.end(), Variant::FusedChain),
              has_linear ? 3 : 0);
    // Three between the products, and one behind the last.
    EXPECT_EQ(std::count(variants.begin(), variants.end(), Variant::LinkedAdd), has_linear ? 4 : 0);
}

} // namespace cuprum::emulator
