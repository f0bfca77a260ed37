// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Pairs of instructions that one handler runs (passes/find_pairs.cpp). Each kernel runs twice: as a
// pair, and with a jump target between the instructions, which keeps them apart. Both must give the
// same bits.

#include "bytecode/forms.hpp"
#include "support/operation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

using bytecode::Instruction;
using bytecode::Variant;
using test::Launch;
using test::ptx_module;
using test::Shape;
using test::TestDevice;
using U = std::uint32_t;

constexpr U THREADS = 300 * 64; // of the largest grid: enough for teams
constexpr U SOURCES = 4;

/// Where the kernel puts a jump target that nothing jumps to at run time.
enum class Between : std::uint8_t { Nothing, Target };

/// Returns a kernel that loads %f0 to %f3 for each thread, runs two instructions, and stores %r0.
/// Threads whose number has all `skipped_bits` set skip both.
std::string kernel_text(const std::string& first, const std::string& second, Between between,
                        U skipped_bits) {
    std::string text = R"(.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 never) {
        .reg .pred %p, %q, %never; .reg .b32 %i, %b, %n, %t, %r<4>; .reg .b64 %d<4>;
        .reg .f32 %f<8>, %result; ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out];
        ld.param.u32 %r1, [never]; setp.ne.u32 %never, %r1, 0;
        mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x;
        mad.lo.u32 %i, %b, %n, %t; mul.wide.u32 %d2, %i, 16; add.u64 %d0, %d0, %d2;
        mul.wide.u32 %d2, %i, 4; add.u64 %d1, %d1, %d2; mov.u32 %r0, 77;
        ld.global.f32 %f0, [%d0]; ld.global.f32 %f1, [%d0+4]; ld.global.f32 %f2, [%d0+8];
        ld.global.f32 %f3, [%d0+12];
        )";
    if (skipped_bits != 0) {
        text += "and.b32 %r2, %i, " + std::to_string(skipped_bits) + "; setp.eq.u32 %p, %r2, " +
                std::to_string(skipped_bits) + "; @%p bra END;\n";
    }
    text += between == Between::Target ? "@%never bra MIDDLE;\n" : "";
    text += first + "\n" + (between == Between::Target ? "MIDDLE:\n" : "") + second + "\n";
    return text + "END: st.global.u32 [%d1], %r0; ret; }";
}

/// Numbers of all kinds: NaNs with several payloads, infinities, zeros, subnormal numbers.
std::vector<U> make_sources() {
    const std::vector<U> special = {0x7fc00001u, 0xffc12345u, 0x7f800001u, 0x7fffffffu,
                                    0x7f800000u, 0xff800000u, 0u,          0x80000000u,
                                    1u,          0x807fffffu, 0x00800000u, 0x7f7fffffu};
    std::mt19937 random(20261118);
    std::vector<U> values(std::size_t{THREADS} * SOURCES);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto plain = static_cast<float>(random() % 2048) / 128 - 8;
        // Whole warps without special numbers, too.
        const bool is_special = i / (32 * SOURCES) % 3 != 0 && random() % 6 == 0;
        values[i] = is_special ? special[random() % special.size()] : std::bit_cast<U>(plain);
    }
    return values;
}

class Pairs : public test::OnEveryLevel {
protected:
    void SetUp() override {
        OnEveryLevel::SetUp();
        exec::Engine::instance().configure({.worker_count = 1});
        in_ = device_.allocate<U>(std::size_t{THREADS} * SOURCES);
        out_ = device_.allocate<U>(THREADS);
        const std::vector<U> sources = make_sources();
        std::copy(sources.begin(), sources.end(), in_);
    }

    std::shared_ptr<const bytecode::Kernel> compile(const std::string& text) {
        auto kernel = device_.compile(ptx_module(text));
        EXPECT_TRUE(kernel) << device_.log << text;
        return kernel;
    }

    std::vector<U> run(const std::shared_ptr<const bytecode::Kernel>& kernel, const Shape& shape) {
        std::fill_n(out_, THREADS, 0xdeadbeefu);
        const Fault fault = Launch(device_, kernel, shape, in_, out_, U{0}).wait();
        EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
        return {out_, out_ + THREADS};
    }

    static std::ptrdiff_t count_pairs(const bytecode::Kernel& kernel) {
        return std::count_if(kernel.code.begin(), kernel.code.end(), [](const Instruction& each) {
            return each.form.variant == Variant::FusedPair;
        });
    }

    void expect_same(const std::string& first, const std::string& second, bool is_pair = true) {
        for (const U skipped_bits : {0u, 1u, 24u, 96u}) {
            const auto together =
                compile(kernel_text(first, second, Between::Nothing, skipped_bits));
            const auto apart = compile(kernel_text(first, second, Between::Target, skipped_bits));
            if (together == nullptr || apart == nullptr) {
                return;
            }
            EXPECT_EQ(count_pairs(*together), is_pair ? 1 : 0) << first << second;
            EXPECT_EQ(count_pairs(*apart), 0) << first << second;
            // One warp, warps in lockstep, blocks in teams, and blocks with other handlers.
            for (const Shape& shape :
                 {Shape{.grid = 40, .block = 32}, Shape{.grid = 3, .block = 256},
                  Shape{.grid = 300, .block = 64}, Shape{.grid = 40, .block = 16, .block_y = 2}}) {
                EXPECT_EQ(run(together, shape), run(apart, shape))
                    << first << second << " in blocks of " << shape.block;
            }
        }
    }

    TestDevice device_;
    U* in_ = nullptr;
    U* out_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Levels, Pairs, test::LEVELS,
                         [](const auto& each) { return std::string(each.param); });

/// Stores %result.
constexpr const char* KEEP = " mov.b32 %r0, %result;";
/// Stores %p.
constexpr const char* KEEP_PREDICATE = " selp.u32 %r0, 1, 2, %p;";

} // namespace

TEST_P(Pairs, arithmetic_with_the_result_in_every_place) {
    for (const char* op : {"add", "sub", "mul"}) {
        const std::string first = std::string(op) + ".f32 %f4, %f0, %f1;";
        for (const char* second :
             {"add.f32 %result, %f4, %f2;", "add.f32 %result, %f2, %f4;",
              "sub.f32 %result, %f4, %f2;", "sub.f32 %result, %f2, %f4;",
              "mul.f32 %result, %f4, %f2;", "mul.f32 %result, %f2, %f4;",
              "fma.rn.f32 %result, %f4, %f2, %f3;", "fma.rn.f32 %result, %f2, %f4, %f3;",
              "fma.rn.f32 %result, %f2, %f3, %f4;", "sub.f32 %result, 0f40400000, %f4;"}) {
            expect_same(first, second + std::string(KEEP));
        }
    }
}

TEST_P(Pairs, comparisons) {
    for (const char* op : {"add", "sub", "mul"}) {
        const std::string first = std::string(op) + ".f32 %f4, %f0, %f1;";
        for (const char* compare : {"lt", "le", "gt", "ge"}) {
            expect_same(first,
                        "setp." + std::string(compare) + ".f32 %p, %f4, %f2;" + KEEP_PREDICATE);
        }
    }
}

TEST_P(Pairs, values_of_the_block) {
    // Blocks of a team have values of their own, which no register holds.
    expect_same("mov.b32 %f5, %ctaid.x; add.f32 %f4, %f5, %f1;",
                "fma.rn.f32 %result, %f4, %f2, %f3;" + std::string(KEEP));
    expect_same("mov.b32 %f5, %ctaid.x; mul.f32 %f4, %f0, %f1;",
                "fma.rn.f32 %result, %f2, %f5, %f4;" + std::string(KEEP));
    expect_same("cvt.rn.f32.s32 %f5, %b; mul.f32 %f4, %f0, %f5;",
                "sub.f32 %result, %f5, %f4;" + std::string(KEEP));
    expect_same("cvt.rn.f32.s32 %f5, %i; add.f32 %f4, %f5, 0f3f000000;",
                "setp.lt.f32 %p, %f4, %f5;" + std::string(KEEP_PREDICATE));
}

TEST_P(Pairs, a_pair_can_overwrite_its_sources) {
    expect_same("add.f32 %f4, %f0, %f1;", "fma.rn.f32 %f0, %f4, %f1, %f0; mov.b32 %r0, %f0;");
    expect_same("mul.f32 %f4, %f0, %f0;", "sub.f32 %f0, %f4, %f0; mov.b32 %r0, %f0;");
}

TEST_P(Pairs, other_instructions_stay_apart) {
    // Twice read, in the second instruction or behind it.
    expect_same("add.f32 %f4, %f0, %f1;", "mul.f32 %result, %f4, %f4;" + std::string(KEEP), false);
    expect_same("add.f32 %f4, %f0, %f1;",
                "mul.f32 %f5, %f4, %f2; add.rz.f32 %result, %f5, %f4;" + std::string(KEEP), false);
    // Not read by the next instruction.
    expect_same("add.f32 %f4, %f0, %f1;",
                "mul.rz.f32 %f5, %f2, %f3; add.rz.f32 %result, %f5, %f4;" + std::string(KEEP),
                false);
    // With modifiers, or under a guard.
    for (const char* first : {"add.ftz.f32 %f4, %f0, %f1;", "add.sat.f32 %f4, %f0, %f1;",
                              "add.rm.f32 %f4, %f0, %f1;", "div.rn.f32 %f4, %f0, %f1;"}) {
        expect_same(first, "add.f32 %result, %f4, %f2;" + std::string(KEEP), false);
    }
    for (const char* second :
         {"mul.ftz.f32 %result, %f4, %f2;", "fma.rz.f32 %result, %f4, %f2, %f3;",
          "min.f32 %result, %f4, %f2;", "add.sat.f32 %result, %f4, %f2;"}) {
        expect_same("mul.f32 %f4, %f0, %f1;", second + std::string(KEEP), false);
    }
    expect_same("mul.f32 %f4, %f0, %f1;",
                "setp.lt.ftz.f32 %p, %f4, %f2;" + std::string(KEEP_PREDICATE), false);
    expect_same("mul.f32 %f4, %f0, %f1;",
                "setp.ltu.f32 %p, %f4, %f2;" + std::string(KEEP_PREDICATE), false);
    expect_same("mul.f32 %f4, %f0, %f1;",
                "setp.lt.f32 %p|%q, %f4, %f2;" + std::string(KEEP_PREDICATE), false);
    expect_same("mul.f32 %f4, %f0, %f1;", "setp.lt.f32 %p, %f2, %f4;" + std::string(KEEP_PREDICATE),
                false);
    expect_same("setp.lt.f32 %q, %f3, 0f00000000; mul.f32 %f4, %f0, %f1;",
                "setp.lt.and.f32 %p, %f4, %f2, %q;" + std::string(KEEP_PREDICATE), false);
    expect_same("setp.lt.f32 %q, %f0, 0f00000000; mov.f32 %result, %f2; mul.f32 %f4, %f0, %f1;",
                "@%q add.f32 %result, %f4, %f2;" + std::string(KEEP), false);
    expect_same("setp.lt.f32 %q, %f0, 0f00000000; mov.f32 %f4, %f2; @%q mul.f32 %f4, %f0, %f1;",
                "add.f32 %result, %f4, %f2;" + std::string(KEEP), false);
}

TEST_P(Pairs, a_chain_of_results_makes_pairs_that_do_not_overlap) {
    const std::string text = kernel_text(
        "add.f32 %f4, %f0, %f1;",
        "mul.f32 %f5, %f4, %f2; sub.f32 %f6, %f5, %f3; fma.rn.f32 %result, %f6, %f0, %f1; "
        "mov.b32 %r0, %result;",
        Between::Nothing, 0);
    const auto kernel = compile(text);
    ASSERT_TRUE(kernel);
    EXPECT_EQ(count_pairs(*kernel), 2);
    const std::vector<U> results = run(kernel, Shape{.grid = 3, .block = 256});
    for (U i = 0; i < 3 * 256; ++i) {
        float f[SOURCES];
        std::memcpy(f, in_ + std::size_t{i} * SOURCES, sizeof f);
        const float sum = f[0] + f[1];
        const float product = sum * f[2];
        const float expected = std::fma(product - f[3], f[0], f[1]);
        const U bits = std::isnan(expected) ? 0x7fffffffu : std::bit_cast<U>(expected);
        ASSERT_EQ(results[i], bits) << "thread " << i;
    }
}

TEST_P(Pairs, a_loop_that_diverges_gives_the_bits_of_the_host) {
    // The number of rounds differs from thread to thread.
    const auto kernel = compile(R"(.visible .entry k(.param .u64 in, .param .u64 out,
                                                     .param .u32 never) {
        .reg .pred %p, %q; .reg .b32 %i, %b, %n, %t, %r<4>; .reg .b64 %d<4>; .reg .f32 %f<12>;
        ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; mov.u32 %b, %ctaid.x;
        mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %b, %n, %t;
        mul.wide.u32 %d2, %i, 4; add.u64 %d1, %d1, %d2; cvt.rn.f32.s32 %f0, %i;
        mul.f32 %f1, %f0, 0f3b000000; mov.f32 %f2, 0f00000000; mov.u32 %r0, 0;
        AGAIN: mul.f32 %f3, %f2, %f2; add.f32 %f2, %f3, %f1; add.u32 %r0, %r0, 1;
        add.f32 %f4, %f2, %f2; setp.lt.f32 %p, %f4, 0f41000000; setp.lt.u32 %q, %r0, 50;
        and.pred %p, %p, %q; @%p bra AGAIN;
        st.global.u32 [%d1], %r0; ret; })");
    ASSERT_TRUE(kernel);
    EXPECT_EQ(count_pairs(*kernel), 2);
    for (const Shape& shape : {Shape{.grid = 40, .block = 32}, Shape{.grid = 5, .block = 256}}) {
        const std::vector<U> results = run(kernel, shape);
        for (U i = 0; i < 1280; ++i) {
            const float c = static_cast<float>(i) * 0x1p-9F;
            float z = 0;
            U rounds = 0;
            do {
                const float square = z * z;
                z = square + c;
                ++rounds;
            } while (z + z < 8.0F && rounds < 50);
            ASSERT_EQ(results[i], rounds) << "thread " << i << " in blocks of " << shape.block;
        }
    }
}

TEST_P(Pairs, branches_read_predicates_that_others_read_too) {
    // The comparison of a block runs its branch only if nothing else reads the predicate.
    const auto kernel = compile(R"(.visible .entry k(.param .u64 in, .param .u64 out,
                                                     .param .u32 never) {
        .reg .pred %p; .reg .b32 %i, %b, %n, %t, %r<4>; .reg .b64 %d<4>;
        ld.param.u64 %d1, [out]; ld.param.u32 %r3, [never]; mov.u32 %b, %ctaid.x;
        mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %b, %n, %t;
        mul.wide.u32 %d2, %i, 4; add.u64 %d1, %d1, %d2; mov.u32 %r0, 0;
        setp.ge.u32 %p, %i, 512; @%p bra OVER; add.u32 %r0, %r0, 1;
        OVER: selp.u32 %r1, 10, 20, %p; add.u32 %r0, %r0, %r1;
        mov.u32 %r2, 0;
        AGAIN: add.u32 %r2, %r2, 1; add.u32 %r0, %r0, 100; setp.lt.u32 %p, %r2, 3;
        @%p bra AGAIN; @!%p add.u32 %r0, %r0, 1000;
        st.global.u32 [%d1], %r0; ret; })");
    ASSERT_TRUE(kernel);
    const std::vector<U> results = run(kernel, Shape{.grid = 4, .block = 256});
    for (U i = 0; i < 1024; ++i) {
        ASSERT_EQ(results[i], 1300 + (i >= 512 ? 10 : 21)) << "thread " << i;
    }
}

TEST_P(Pairs, a_store_that_is_a_jump_target_reads_the_register) {
    // Each round stores what the multiply-add before the loop has left.
    const auto kernel = compile(R"(.visible .entry k(.param .u64 in, .param .u64 out,
                                                     .param .u32 never) {
        .reg .pred %p; .reg .b32 %i, %b, %n, %t, %r<4>; .reg .b64 %d<6>; .reg .f32 %f<4>;
        ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; mov.u32 %b, %ctaid.x;
        mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x; mad.lo.u32 %i, %b, %n, %t;
        mul.wide.u32 %d2, %i, 4; add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2; mov.u32 %r0, 0;
        ld.global.f32 %f0, [%d3]; ld.global.f32 %f1, [%d3+1024];
        fma.rn.f32 %f2, %f0, 0f40000000, %f1;
        AGAIN: st.global.f32 [%d4], %f2; add.u64 %d4, %d4, 4096; add.u32 %r0, %r0, 1;
        setp.lt.u32 %p, %r0, 3; @%p bra AGAIN; ret; })");
    ASSERT_TRUE(kernel);
    for (U i = 0; i < 2048; ++i) {
        in_[i] = std::bit_cast<U>(static_cast<float>(i % 100));
    }
    const std::vector<U> results = run(kernel, Shape{.grid = 4, .block = 256});
    for (U i = 0; i < 3 * 1024; ++i) {
        const U thread = i % 1024;
        const auto expected = static_cast<float>(thread % 100 * 2 + (thread + 256) % 100);
        ASSERT_EQ(results[i], std::bit_cast<U>(expected)) << "word " << i;
    }
}

} // namespace cuprum::emulator
