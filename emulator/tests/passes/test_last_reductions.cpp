// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which reductions may take effect later: passes/find_last_reductions.cpp.

#include "bytecode/instruction.hpp"
#include "exec/harness.hpp"

#include <algorithm>
#include <string>

namespace cuprum::emulator {

namespace {

using test::ptx_module;
using test::TestDevice;

/// Returns how many instructions of a kernel with this body can wait; -1 if it does not compile.
int waiting(const std::string& body, const std::string& before = {}) {
    TestDevice device;
    const auto kernel = device.compile(ptx_module(before + R"(
.visible .entry k(.param .u64 pw, .param .u32 pn) {
    .reg .pred %p; .reg .b32 %n, %d; .reg .b64 %w, %x; .reg .f32 %f;
    .shared .align 4 .b8 cell[8];
    ld.param.u64 %w, [pw];
    ld.param.u32 %n, [pn];
)" + body + "\n    ret;\n}\n"));
    EXPECT_TRUE(kernel) << device.log;
    return kernel == nullptr
               ? -1
               : static_cast<int>(std::ranges::count_if(kernel->code, [](const auto& instruction) {
                     return (instruction.flags & bytecode::CAN_WAIT) != 0;
                 }));
}

} // namespace

TEST(LastReductions, those_before_the_end_can_wait) {
    EXPECT_EQ(waiting("red.global.add.u32 [%w], %n;"), 1);
    EXPECT_EQ(waiting("red.relaxed.gpu.global.add.u64 [%w], 1;"), 1);
    EXPECT_EQ(waiting("atom.global.max.s32 %d, [%w], %n;"), 1) << "nothing reads the result";
    EXPECT_EQ(waiting("red.global.add.u32 [%w], %n;\nred.global.or.b32 [%w+4], %n;"), 2);
    EXPECT_EQ(waiting("setp.eq.u32 %p, %n, 1;\n@%p red.global.add.u32 [%w], %n;\n"
                      "add.u32 %n, %n, 1;"),
              1);
    EXPECT_EQ(waiting("setp.eq.u32 %p, %n, 1;\n@%p bra L;\nred.global.add.u32 [%w], 1;\nret;\nL:\n"
                      "red.global.add.u32 [%w], 2;"),
              2);
    EXPECT_EQ(waiting("L:\nred.global.add.u32 [%w], 1;\nsub.u32 %n, %n, 1;\n"
                      "setp.ne.u32 %p, %n, 0;\n@%p bra L;"),
              1);
}

TEST(LastReductions, those_before_an_access_or_an_order_cannot) {
    for (const char* const after :
         {"ld.global.u32 %d, [%w];\nst.global.u32 [%w+4], %d;", "st.global.u32 [%w], %n;",
          "membar.gl;", "fence.acq_rel.gpu;", "bar.sync 0;", "bar.warp.sync -1;",
          "atom.global.add.u32 %d, [%w], 1;\nst.shared.u32 [cell], %d;",
          "atom.global.cas.b32 %d, [%w], 1, 2;", "red.global.add.f32 [%w], %f;",
          "red.global.inc.u32 [%w], 5;", "red.release.gpu.global.add.u32 [%w+8], 1;",
          "ld.volatile.global.u32 %d, [%w];\nst.shared.u32 [cell], %d;"}) {
        EXPECT_EQ(waiting(std::string("red.global.add.u32 [%w], 1;\n") + after), 0) << after;
    }
    EXPECT_EQ(waiting("L:\nred.global.add.u32 [%w], 1;\nld.global.u32 %n, [%w+8];\n"
                      "setp.ne.u32 %p, %n, 0;\n@%p bra L;"),
              0)
        << "the load of the next round";
    EXPECT_EQ(waiting("red.global.add.u32 [%w], 1;\nsetp.eq.u32 %p, %n, 1;\n@%p bra L;\nret;\nL:\n"
                      "st.global.u32 [%w], 0;"),
              0)
        << "on one path";
}

TEST(LastReductions, other_atomics_take_effect_at_once) {
    for (const char* const each :
         {"red.shared.add.u32 [cell], 1;", "red.add.u32 [%w], 1;", "red.global.add.f32 [%w], %f;",
          "red.global.add.f64 [%w], 0d3FF0000000000000;", "red.global.inc.u32 [%w], 1;",
          "red.global.dec.u32 [%w], 1;", "atom.global.exch.b32 %d, [%w], 1;",
          "atom.global.cas.b32 %d, [%w], 1, 2;", "red.release.gpu.global.add.u32 [%w], 1;",
          "atom.acq_rel.gpu.global.add.u32 %d, [%w], 1;",
          "atom.acquire.gpu.global.add.u32 %d, [%w], 1;"}) {
        EXPECT_EQ(waiting(each), 0) << each;
    }
    EXPECT_EQ(waiting("atom.global.add.u32 %d, [%w], 1;\nst.shared.u32 [cell], %d;"), 0);
}

TEST(LastReductions, a_kernel_with_a_stack_collects_nothing) {
    const std::string recursive = R"(
.visible .func (.param .b32 r) f(.param .b32 a) {
    .reg .pred %p; .reg .b32 %x, %y;
    ld.param.u32 %x, [a];
    setp.eq.u32 %p, %x, 0;
    @%p bra END;
    sub.u32 %x, %x, 1;
    {
        .param .b32 in; .param .b32 out;
        st.param.b32 [in], %x;
        call.uni (out), f, (in);
        ld.param.b32 %x, [out];
    }
END:
    st.param.b32 [r], %x;
    ret;
}
)";
    EXPECT_EQ(waiting("red.global.add.u32 [%w], 1;\n{\n.param .b32 in; .param .b32 out;\n"
                      "st.param.b32 [in], %n;\ncall.uni (out), f, (in);\nld.param.b32 %n, "
                      "[out];\n}\nred.global.add.u32 [%w], 1;",
                      recursive),
              0);
}

} // namespace cuprum::emulator
