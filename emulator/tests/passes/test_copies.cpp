// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Copies that the compiler removes: chains, loops of copies, and originals that change.

#include "exec/harness.hpp"

#include <string>

namespace cuprum::emulator {

namespace {

using test::run;
using test::TestDevice;

constexpr std::uint32_t COPIES = 20'000;

/// Runs one thread of a kernel with `count` registers %c and %x = 5, and returns the final %x.
std::uint32_t result_of(std::uint32_t count, const std::string& body) {
    TestDevice device;
    auto* const out = device.allocate<std::uint32_t>(1);
    *out = 5;
    const Fault fault =
        run(device,
            ".visible .entry k(.param .u64 out) {\n.reg .b32 %c<" + std::to_string(count) +
                ">; .reg .b32 %x, %s; .reg .b64 %out; .reg .pred %p;\n"
                "ld.param.u64 %out, [out];\nld.global.u32 %x, [%out];\n"
                "mov.u32 %s, 0;\n" +
                body + "st.global.u32 [%out], %x;\nret;\n}\n",
            {.block = 1}, out);
    EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    return *out;
}

std::string copy(std::uint32_t to, std::uint32_t from) {
    return "mov.u32 %c" + std::to_string(to) + ", %c" + std::to_string(from) + ";\n";
}

TEST(Copies, a_chain_of_many_leads_to_its_origin) {
    for (const char* const origin : {"mov.u32 %c0, %x;\n", "mov.u32 %c0, 5;\n"}) {
        std::string forwards = origin;
        std::string backwards = origin;
        backwards += copy(COPIES - 1, 0);
        for (std::uint32_t i = 1; i < COPIES; ++i) {
            forwards += copy(i, i - 1);
        }
        for (std::uint32_t i = COPIES - 1; i > 1; --i) {
            backwards += copy(i - 1, i);
        }
        EXPECT_EQ(
            result_of(COPIES, forwards + "mov.u32 %x, %c" + std::to_string(COPIES - 1) + ";\n"),
            5u);
        EXPECT_EQ(result_of(COPIES, backwards + "mov.u32 %x, %c1;\n"), 5u);
    }
}

TEST(Copies, an_original_that_changes_after_each_copy) {
    std::string body;
    std::uint32_t expected = 0;
    for (std::uint32_t i = 0; i < COPIES; ++i) {
        const std::string name = "%c" + std::to_string(i);
        body += "mov.u32 " + name + ", %x;\nadd.u32 %x, %x, 1;\nadd.u32 %s, %s, " + name + ";\n";
        expected += 5 + i;
    }
    EXPECT_EQ(result_of(COPIES, body + "mov.u32 %x, %s;\n"), expected);
}

TEST(Copies, registers_that_are_copies_of_each_other) {
    // Each register is written once. The values before that are undefined, so only loading matters.
    EXPECT_EQ(result_of(4, "setp.eq.u32 %p, %x, 6;\n@!%p bra END;\n" + copy(0, 1) + copy(1, 2) +
                               copy(2, 0) + "mov.u32 %x, %c0;\nEND:\n"),
              5u);
}

TEST(Copies, a_copy_is_forgotten_when_either_side_is_written) {
    EXPECT_EQ(result_of(4, "mov.u32 %c0, %x;\nmov.u32 %c1, %x;\nmov.u32 %c2, %x;\n"
                           "mov.u32 %c1, 9;\nadd.u32 %x, %x, 100;\nmov.u32 %c3, %c0;\n"
                           "mov.u32 %c0, 1000;\nadd.u32 %x, %x, %c3;\nadd.u32 %x, %x, %c2;\n"
                           "add.u32 %x, %x, %c1;\nadd.u32 %x, %x, %c0;\n"),
              105u + 5 + 5 + 9 + 1000);
}

} // namespace

} // namespace cuprum::emulator
