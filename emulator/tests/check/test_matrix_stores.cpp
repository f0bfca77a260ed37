// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Races of stmatrix and wmma.store: two threads that write the same values do not conflict.

#include "check/checked_kernel.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

using test::expect_report;
using test::run_checked;
using test::TestDevice;

/// The words of `tile`.
constexpr std::uint32_t WORDS = 1024;

/// An instruction that stores a matrix at `%r0` (stmatrix: one row a lane) or at `tile`, from
/// registers that hold other bytes in each lane.
struct MatrixStore {
    const char* text;
    int lanes_with_rows = 0; // 0: wmma.store
};

constexpr MatrixStore STORES[] = {
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r0], {%r1};", 8},
    {"stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r0], {%r1};", 8},
    {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r0], {%r1, %r2};", 16},
    {"stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r0], {%r1, %r2, %r3, %r4};", 32},
    {"stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r0], {%r1, %r2};", 16},
    {"wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [tile], {%r1, %r2, %r3, %r4};"},
    {"wmma.store.d.sync.aligned.col.m16n16k16.shared.f16 [tile], {%r1, %r2, %r3, %r4};"},
    {"wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [tile], "
     "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, %r9;"},
    {"wmma.store.d.sync.aligned.col.m8n32k16.shared.s32 [tile], "
     "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};"},
    {"wmma.store.d.sync.aligned.row.m32n8k16.shared.f32 [tile], "
     "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};"},
    {"wmma.store.d.sync.aligned.row.m8n8k4.shared.f64 [tile], {%rd1, %rd2};"},
    {"wmma.store.d.sync.aligned.col.m8n8k4.shared.f64 [tile], {%rd1, %rd2};"},
};

/// Returns the code that fills the registers and stores the matrix. `salt` changes the values.
std::string code_of(const MatrixStore& store, const std::string& salt) {
    std::string text = "mov.u32 %r9, 24;\nand.b32 %r10, %l, 31;\n";
    // Distinct bytes: lane and register decide about every one.
    text += "mad.lo.u32 %r11, %r10, 0x04040404, 0x03020100;\nadd.u32 %r11, %r11, " + salt + ";\n";
    for (int i = 1; i <= 8; ++i) {
        text +=
            "xor.b32 %r" + std::to_string(i) + ", %r11, " + std::to_string(i * 0x11111111) + ";\n";
    }
    text += "mov.b64 %rd1, {%r1, %r2};\nmov.b64 %rd2, {%r3, %r4};\n";
    if (store.lanes_with_rows != 0) {
        text += "mul.lo.u32 %r10, %r10, 48;\nmov.u32 %r0, tile;\nadd.u32 %r0, %r0, %r10;\n";
    }
    return text + store.text + "\n";
}

/// Returns the shared memory after a store by one warp.
std::vector<std::uint32_t> image_of(const MatrixStore& store) {
    TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(WORDS);
    const std::string dump = "mov.u32 %r12, 0;\nmov.u32 %r13, tile;\nmov.b64 %rd3, %out;\n"
                             "DUMP: ld.shared.u32 %r14, [%r13];\nst.global.u32 [%rd3], %r14;\n"
                             "add.u32 %r13, %r13, 4;\nadd.u64 %rd3, %rd3, 4;\n"
                             "add.u32 %r12, %r12, 1;\nsetp.lt.u32 %p0, %r12, 1024;\n"
                             "@%p0 bra DUMP;\n";
    // Words that keep this value are not part of the matrix.
    const std::string clear = "mov.u32 %r12, 0;\nmov.u32 %r13, tile;\n"
                              "CLEAR: st.shared.u32 [%r13], 0xabababab;\n"
                              "add.u32 %r13, %r13, 4;\nadd.u32 %r12, %r12, 1;\n"
                              "setp.lt.u32 %p0, %r12, 1024;\n@%p0 bra CLEAR;\n";
    const Fault fault = run_checked(device, clear + code_of(store, "0") + dump, {.block = 32}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return {out, out + WORDS};
}

/// Runs a kernel in which warp 0 stores the matrix and warp 1 stores words, unordered.
Fault store_beside(const MatrixStore& store, const std::vector<std::uint32_t>& words) {
    TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(WORDS);
    std::ranges::copy(words, out);
    device.enable_checks(CHECK_RACES);
    return run_checked(device,
                       "setp.lt.u32 %p1, %t, 32;\n@!%p1 bra WORDS;\n" + code_of(store, "0") +
                           "ret;\nWORDS:\nsetp.ne.u32 %p1, %l, 0;\n@%p1 ret;\n"
                           "mov.u32 %r12, 0;\nmov.u32 %r13, tile;\nmov.b64 %rd3, %out;\n"
                           "NEXT: ld.global.u32 %r14, [%rd3];\n"
                           "setp.ne.u32 %p2, %r14, 0xabababab;\n"
                           "@%p2 st.shared.u32 [%r13], %r14;\n"
                           "add.u32 %r13, %r13, 4;\nadd.u64 %rd3, %rd3, 4;\n"
                           "add.u32 %r12, %r12, 1;\nsetp.lt.u32 %p0, %r12, 1024;\n"
                           "@%p0 bra NEXT;\n",
                       {.block = 64}, out);
}

TEST(MatrixStores, of_equal_values_by_two_warps_are_no_race) {
    for (const MatrixStore& store : STORES) {
        SCOPED_TRACE(store.text);
        const Fault same = run_checked(CHECK_RACES, code_of(store, "0"), {.block = 64});
        EXPECT_EQ(same.kind, FaultKind::None) << same.report;
        const Fault other = run_checked(CHECK_RACES, code_of(store, "%t"), {.block = 64});
        expect_report(other, FaultKind::Race,
                      {"write of", "and nothing orders it after the write"});
    }
}

TEST(MatrixStores, have_the_values_that_they_leave_in_memory) {
    // Plain stores of the same words are no race, and a race if any of the words differs.
    for (const MatrixStore& store : STORES) {
        SCOPED_TRACE(store.text);
        std::vector<std::uint32_t> words = image_of(store);
        const Fault same = store_beside(store, words);
        EXPECT_EQ(same.kind, FaultKind::None) << same.report;
        std::vector<std::size_t> written;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (words[i] != 0xabababab) {
                written.push_back(i);
            }
        }
        ASSERT_GE(written.size(), 32u);
        for (const std::size_t i : {written.front(), written[written.size() / 2], written.back()}) {
            words[i] ^= 0x100;
            expect_report(store_beside(store, words), FaultKind::Race, {"write of 4 bytes"});
            words[i] ^= 0x100;
        }
    }
}

TEST(MatrixStores, of_two_blocks_to_device_memory) {
    const auto run = [](const std::string& salt) {
        return run_checked(CHECK_RACES,
                           "add.u32 %r11, %l, " + salt +
                               ";\nmov.b32 %r1, %r11;\nmov.b32 %r2, %r11;\n"
                               "mov.b32 %r3, %r11;\nmov.b32 %r4, %r11;\n"
                               "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%out], "
                               "{%r1, %r2, %r3, %r4};\n",
                           {.grid = 2, .block = 32});
    };
    EXPECT_EQ(run("0").kind, FaultKind::None);
    EXPECT_EQ(run("%b").kind, FaultKind::Race);
}

} // namespace

} // namespace cuprum::emulator
