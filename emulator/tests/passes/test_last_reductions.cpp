// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which reductions may take effect later: passes/find_last_reductions.cpp.

#include "bytecode/forms.hpp"
#include "exec/harness.hpp"

#include <algorithm>
#include <string>

namespace cuprum::emulator {

namespace {

using test::ptx_module;
using test::TestDevice;

/// Returns how many instructions of a kernel with this body satisfy a condition; -1 if it does not
/// compile.
template <typename Condition>
int count(const std::string& body, const std::string& before, Condition condition) {
    TestDevice device;
    const auto kernel = device.compile(ptx_module(before + R"(
.visible .entry k(.param .u64 pw, .param .u32 pn) {
    .reg .pred %p; .reg .b32 %n, %d, %e; .reg .b64 %w, %x, %y; .reg .f32 %f;
    .shared .align 4 .b8 cell[8];
    ld.param.u64 %w, [pw];
    ld.param.u32 %n, [pn];
)" + body + "\n    ret;\n}\n"));
    EXPECT_TRUE(kernel) << device.log;
    return kernel == nullptr ? -1
                             : static_cast<int>(std::ranges::count_if(kernel->code, condition));
}

/// Returns how many instructions can wait.
int waiting(const std::string& body, const std::string& before = {}) {
    return count(body, before, [](const bytecode::Instruction& instruction) {
        return (instruction.flags & bytecode::CAN_WAIT) != 0;
    });
}

/// Returns how many instructions look whether a load would see collected reductions.
int settling(const std::string& body) {
    return count(body, {}, [](const bytecode::Instruction& instruction) {
        return instruction.form.family() == bytecode::Family::Settle;
    });
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
    EXPECT_EQ(waiting("L:\nred.global.add.u32 [%w], 1;\nld.volatile.global.u32 %n, [%w+8];\n"
                      "setp.ne.u32 %p, %n, 0;\n@%p bra L;"),
              0)
        << "the load of the next round";
    EXPECT_EQ(waiting("red.global.add.u32 [%w], 1;\nsetp.eq.u32 %p, %n, 1;\n@%p bra L;\nret;\nL:\n"
                      "st.global.u32 [%w], 0;"),
              0)
        << "on one path";
}

TEST(LastReductions, weak_loads_may_follow_and_are_compared) {
    const std::string add = "red.global.add.u32 [%w], 1;\n";
    const std::string use = "\nred.global.add.u32 [%w+64], %d;";

    struct Case {
        const char* load;
        int waiting;
        int settling;
    };

    for (const auto& [load, can_wait, settles] : {
             Case{"ld.global.u32 %d, [%w+8];", 2, 1},
             Case{"ld.weak.global.u32 %d, [%w+8];", 2, 1},
             Case{"ld.global.ca.u32 %d, [%w+8];", 2, 1},
             Case{"ld.u32 %d, [%w+8];", 2, 1},
             Case{"ld.global.v2.u32 {%e, %d}, [%w+8];", 2, 1},
             Case{"ld.global.nc.u32 %d, [%w+8];", 2, 0},
             Case{"ld.shared.u32 %d, [cell];", 2, 0},
             Case{"st.shared.u32 [cell], %n;\nld.shared.u32 %d, [cell];", 2, 0},
             // One for both loads of a base, at the earliest place.
             Case{"ld.global.u32 %d, [%w+8];\nld.global.u32 %e, [%w+16];\nadd.u32 %d, %d, %e;", 2,
                  1},
             Case{"ld.global.u32 %d, [%w+8];\nld.global.u32 %e, [%w+4096];\nadd.u32 %d, %d, %e;", 2,
                  2},
             Case{"ld.global.u32 %d, [%w+8];\nadd.u64 %w, %w, 8;\nld.global.u32 %e, [%w+8];\n"
                  "add.u32 %d, %d, %e;",
                  2, 2},
             Case{"ld.volatile.global.u32 %d, [%w+8];", 1, 0},
             Case{"ld.relaxed.gpu.global.u32 %d, [%w+8];", 1, 0},
             Case{"ld.acquire.gpu.global.u32 %d, [%w+8];", 1, 0},
             Case{"ld.global.cv.u32 %d, [%w+8];", 1, 0},
             Case{"ld.global.cg.u32 %d, [%w+8];", 1, 0},
             Case{"ld.volatile.shared.u32 %d, [cell];", 1, 0},
             Case{"st.global.u32 [%w+8], %n;\nmov.u32 %d, 1;", 1, 0},
         }) {
        EXPECT_EQ(waiting(add + load + use), can_wait) << load;
        EXPECT_EQ(settling(add + load + use), settles) << load;
        EXPECT_EQ(settling(load + use), 0) << load << " before all reductions";
    }
    // In a loop the load of the next round follows.
    const std::string loop = "L:\nld.global.u32 %d, [%w+8];\nred.global.add.u32 [%w], %d;\n"
                             "sub.u32 %n, %n, 1;\nsetp.ne.u32 %p, %n, 0;\n@%p bra L;";
    EXPECT_EQ(waiting(loop), 1);
    EXPECT_EQ(settling(loop), 1);
}

TEST(LastReductions, computations_of_every_kind_may_follow) {
    EXPECT_EQ(waiting("red.global.add.u32 [%w], 1;\nmin.u32 %d, %n, 5;\nrem.u32 %d, %d, 3;\n"
                      "cvt.rn.f32.u32 %f, %d;\nfma.rn.f32 %f, %f, %f, %f;\n"
                      "cvt.rzi.u32.f32 %d, %f;\nred.global.add.u32 [%w], %d;"),
              2);
}

TEST(LastReductions, kernels_with_many_loads_do_without) {
    std::string loads;
    for (int i = 0; i < 20; ++i) {
        loads += "add.u64 %w, %w, 8;\nld.global.u32 %e, [%w];\nadd.u32 %d, %d, %e;\n";
    }
    const std::string add = "red.global.add.u32 [%w], %n;\n";
    EXPECT_EQ(waiting(add + loads + "red.global.add.u32 [%w], %d;"), 1);
    EXPECT_EQ(settling(add + loads + "red.global.add.u32 [%w], %d;"), 0);
    EXPECT_EQ(
        waiting(add + loads + add + "ld.shared.u32 %d, [cell];\nred.global.add.u32 [%w], %d;"), 2)
        << "those behind the loads";
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
