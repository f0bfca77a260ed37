// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loading a module refuses unsupported instructions, by name and line.

#include "exec/corpus_test.hpp"

namespace cuprum::emulator {

namespace {

using test::TestDevice;

/// Returns the error message for a kernel with this body.
std::string complaint_about(const std::string& body, ptx::Problem problem) {
    TestDevice device;
    EXPECT_EQ(device.compile(test::ptx_module(
                  ".visible .entry k()\n{\n.reg .b32 %r<8>;\n.reg .b64 %d<4>;\n.reg .pred %p;\n" +
                  body + "\nret;\n}\n")),
              nullptr)
        << body;
    EXPECT_EQ(device.problem, problem) << device.log;
    return device.log;
}

void expect_words(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* const word : words) {
        EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
    }
}

TEST(Refusals, features_that_are_missing_are_named) {
    const auto unsupported = ptx::Problem::Unsupported;
    expect_words(complaint_about("tcgen05.fence::before_thread_sync;", unsupported),
                 {"ptx:9:", "tcgen05.fence", "tensor cores"});
    expect_words(
        complaint_about("multimem.red.relaxed.sys.global.add.u32 [%d0], %r0;", unsupported),
        {"multimem.red", "multicast memory"});
    expect_words(complaint_about("alloca.u32 %r0, 64;", unsupported), {"alloca.u32"});
    expect_words(
        complaint_about("tex.2dms.v4.f32.s32 {%r0, %r1, %r2, %r3}, [%d0, {%r4, %r5, %r6, %r7}];",
                        unsupported),
        {"tex.2dms.v4.f32.s32", "multisampled"});
    expect_words(complaint_about("wmma.load.a.sync.aligned.row.m8n8k4.global.f16 {%r0}, [%d0];",
                                 unsupported),
                 {"wmma.load.a.sync.aligned.row.m8n8k4.global.f16"});
}

TEST(Refusals, what_is_no_instruction_is_not_valid) {
    expect_words(complaint_about("frobnicate.u32 %r0, %r1;", ptx::Problem::Syntax),
                 {"ptx:9:", "'frobnicate.u32' is not an instruction"});
}

class CompiledTextures : public test::CorpusTest {
protected:
    CompiledTextures() : CorpusTest("textures") {}
};

TEST_F(CompiledTextures, every_instruction_is_known) {
    for_each_text(
        [&](TestDevice& device) { EXPECT_NE(device.compile(text(), 120), nullptr) << device.log; });
}

} // namespace

} // namespace cuprum::emulator
