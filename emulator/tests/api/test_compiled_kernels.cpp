// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compiled kernels in whole processes: what is kept on disk, and what happens where a kernel cannot
// be compiled or the process does not wait for it.

#include "support/sanitized.hpp"
#include "support/shell.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;
using cuprum::emulator::test::Outcome;
using cuprum::emulator::test::shell;

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

class CompiledKernels : public testing::Test {
protected:
    void SetUp() override {
        if (!fs::exists(fs::path(CUPRUM_EMULATOR_LIBRARY).replace_filename("libcuprum_jit.so"))) {
            GTEST_SKIP() << "this build has no compiler of kernels";
        }
        folder_ = fs::canonical(testing::TempDir()) /
                  ("cuprum_compiled_" +
                   std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }

    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] Outcome run(const std::string& what, const std::string& mode = "always",
                              const std::string& library = CUPRUM_EMULATOR_LIBRARY) const {
        return shell("CUPRUM_EMULATOR_LOG=debug CUPRUM_EMULATOR_JIT=" + mode +
                     " CUPRUM_EMULATOR_JIT_CACHE=" + (folder_ / "kernels").string() +
                     " " CUPRUM_EMULATOR_COMPILING_PROGRAM " " + library + " " + what);
    }

    fs::path folder_;
};

} // namespace

TEST_F(CompiledKernels, a_second_process_starts_with_the_code_of_the_first) {
    const Outcome first = run("run");
    EXPECT_EQ(count_of(first.output, "was compiled in"), 1U) << first.output;
    const Outcome second = run("run");
    EXPECT_EQ(count_of(second.output, "was compiled before"), 1U) << second.output;
    EXPECT_EQ(count_of(second.output, "was compiled in"), 0U) << second.output;
    EXPECT_EQ(count_of(second.output, "right"), 1U) << second.output;
    const Outcome third = run("run", "auto");
    EXPECT_EQ(count_of(third.output, "was compiled before"), 1U) << third.output;
    EXPECT_EQ(count_of(third.output, "right"), 1U) << third.output;
}

TEST_F(CompiledKernels, a_damaged_file_costs_one_line_and_the_kernel_is_compiled_again) {
    (void)run("run");
    for (const auto& file : fs::directory_iterator(folder_ / "kernels")) {
        std::fstream stream(file.path(), std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(200);
        stream.put('x');
    }
    const Outcome outcome = run("run");
    EXPECT_EQ(count_of(outcome.output, "is not used: it is damaged"), 1U) << outcome.output;
    EXPECT_EQ(count_of(outcome.output, "was compiled in"), 1U) << outcome.output;
    EXPECT_EQ(count_of(outcome.output, "right"), 1U) << outcome.output;
}

TEST_F(CompiledKernels, a_folder_that_cannot_be_used_costs_one_line) {
    std::ofstream(folder_ / "kernels") << "a file";
    const Outcome outcome = run("run");
    EXPECT_EQ(count_of(outcome.output, "compiled kernels are not kept"), 1U) << outcome.output;
    EXPECT_EQ(count_of(outcome.output, "was compiled in"), 1U) << outcome.output;
    EXPECT_EQ(count_of(outcome.output, "right"), 1U) << outcome.output;
}

TEST_F(CompiledKernels, without_the_compiler_the_interpreter_runs_them) {
    const fs::path library = folder_ / "libcuda.so.1";
    fs::copy_file(CUPRUM_EMULATOR_LIBRARY, library);
    const Outcome missing = run("run", "always", library.string());
    EXPECT_EQ(count_of(missing.output, "kernels are interpreted"), 1U) << missing.output;
    EXPECT_EQ(count_of(missing.output, "right"), 1U) << missing.output;
    std::ofstream(folder_ / "libcuprum_jit.so") << "no library";
    const Outcome damaged = run("run", "always", library.string());
    EXPECT_EQ(count_of(damaged.output, "kernels are interpreted"), 1U) << damaged.output;
    EXPECT_EQ(count_of(damaged.output, "right"), 1U) << damaged.output;
}

TEST_F(CompiledKernels, without_executable_memory_the_interpreter_runs_them) {
    if (cuprum::emulator::test::IS_SANITIZED) {
        GTEST_SKIP() << "sanitizers need executable memory";
    }
    for (const std::string what : {"no_code", "no_library"}) {
        const Outcome outcome = run(what);
        if (outcome.status == 3) {
            GTEST_SKIP() << "this system has no seccomp";
        }
        EXPECT_EQ(outcome.status, 0);
        EXPECT_EQ(count_of(outcome.output, "kernels are interpreted"), 1U) << outcome.output;
        EXPECT_EQ(count_of(outcome.output, "right"), 1U) << outcome.output;
    }
}

TEST_F(CompiledKernels, nobody_waits_for_a_kernel_that_compiles) {
    for (const std::string what : {"exit", "fork", "reset", "unload"}) {
        const Outcome outcome = run(what, "auto");
        EXPECT_EQ(outcome.status, 0) << what << ": " << outcome.output;
        EXPECT_EQ(count_of(outcome.output, "right"), what == "reset" ? 2U : 1U)
            << what << ": " << outcome.output;
        EXPECT_EQ(count_of(outcome.output, "was compiled in"), 0U)
            << what << ": the kernel is too small for this test: " << outcome.output;
    }
}
