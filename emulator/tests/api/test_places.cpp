// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reports contain the location in the host program. Each case runs a program with symbols, without
// them, and linked to a fixed address.

#include "support/shell.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace {

using cuprum::emulator::test::Outcome;
using cuprum::emulator::test::shell;

const std::string PROGRAM = CUPRUM_EMULATOR_PLACES_PROGRAM;
constexpr int KERNEL_FAILED = 7; // the program's exit status if the kernel failed

Outcome run(const std::string& setting, const std::string& bug,
            const std::string& program = PROGRAM) {
    return shell(setting + " " + program + " " CUPRUM_EMULATOR_LIBRARY " " + bug);
}

testing::AssertionResult has(const std::string& text, const std::string& pattern) {
    return std::regex_search(text, std::regex(pattern)) ? testing::AssertionSuccess()
                                                        : testing::AssertionFailure()
                                                              << "no match for\n"
                                                              << pattern << "\nin\n"
                                                              << text;
}

/// Returns the line of a report that names a function in a program.
std::string in(const std::string& function, const std::string& program = PROGRAM) {
    return "in " + function + "\\+0x[0-9a-f]+ \\(" + program + "\\+0x[0-9a-f]+\\)";
}

const std::string ALLOCATED = ", made by cuMemAlloc, host thread [0-9]+\n    " +
                              in("allocate_weights\\(unsigned long\\)") + "\n    " + in("main") +
                              "\n";
const std::string LAUNCHED =
    "\n  launched by cuLaunchKernel, host thread [0-9]+\n    " +
    in("launch_step\\(char const\\*, unsigned long long, unsigned int\\)") + "\n    " + in("main") +
    "\n$";

TEST(Places, an_overrun_names_who_allocated_and_who_launched) {
    const Outcome outcome = run("CUPRUM_EMULATOR_CHECK=memory", "overrun");
    EXPECT_EQ(outcome.status, KERNEL_FAILED) << outcome.output;
    EXPECT_TRUE(has(outcome.output, "\n  0 bytes behind device memory #[0-9]+ of 100 bytes at "
                                    "0x[0-9a-f]+" +
                                        ALLOCATED + "  in kernel write"));
    EXPECT_TRUE(has(outcome.output, LAUNCHED));
}

TEST(Places, an_unwritten_read_names_who_allocated) {
    const Outcome outcome = run("CUPRUM_EMULATOR_CHECK=initialized", "unwritten");
    EXPECT_EQ(outcome.status, KERNEL_FAILED) << outcome.output;
    EXPECT_TRUE(has(outcome.output, "which was never written\n  20 bytes into .*" + ALLOCATED));
    EXPECT_TRUE(has(outcome.output, LAUNCHED));
}

TEST(Places, findings_that_do_not_stop_the_kernel_name_them_too) {
    const Outcome outcome =
        run("CUPRUM_EMULATOR_CHECK_ACTION=report CUPRUM_EMULATOR_CHECK=initialized", "unwritten");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_TRUE(has(outcome.output, ALLOCATED));
    EXPECT_TRUE(has(outcome.output, LAUNCHED));
}

TEST(Places, use_after_free_names_who_allocated_and_who_freed) {
    const std::string freed = "    freed by cuMemFree, host thread [0-9]+\n      " +
                              in("release_weights\\(unsigned long long\\)") + "\n      " +
                              in("main") + "\n";
    const Outcome outcome = run("CUPRUM_EMULATOR_CHECK=races", "freed");
    EXPECT_EQ(outcome.status, KERNEL_FAILED) << outcome.output;
    EXPECT_TRUE(has(outcome.output, ALLOCATED + freed + "  in kernel write"));
}

TEST(Places, threads_are_told_apart) {
    const Outcome outcome = run("CUPRUM_EMULATOR_CHECK=memory", "threads");
    EXPECT_EQ(outcome.status, KERNEL_FAILED) << outcome.output;
    EXPECT_TRUE(has(outcome.output, "made by cuMemAlloc, host thread ([0-9]+)\n    " +
                                        in("allocate_weights\\(unsigned long\\)") + "\n    " +
                                        in("main::[^\n]*::operator\\(\\)\\(\\) const")));
    EXPECT_TRUE(has(outcome.output, "freed by cuMemFree, host thread ([0-9]+)\n      " +
                                        in("release_weights\\(unsigned long long\\)") + "\n      " +
                                        in("main::[^\n]*::operator\\(\\)\\(\\) const")));
    std::smatch found;
    ASSERT_TRUE(std::regex_search(
        outcome.output, found,
        std::regex("made by cuMemAlloc, host thread ([0-9]+)[^]*freed by cuMemFree, host "
                   "thread ([0-9]+)[^]*launched by cuLaunchKernel, host thread ([0-9]+)")));
    EXPECT_NE(found[1], found[2]);
    EXPECT_NE(found[2], found[3]);
}

TEST(Places, leaks_name_who_made_them) {
    const Outcome outcome = run("CUPRUM_EMULATOR_LEAKS=1", "leaks");
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    const std::vector<std::pair<std::string, std::string>> makers{
        {"stream 0x[0-9a-f]+, made by cuStreamCreate", "open_stream\\(\\)"},
        {"event 0x[0-9a-f]+, made by cuEventCreate", "make_event\\(\\)"},
        {"physical memory 0x[0-9a-f]+, made by cuMemCreate", "map_range\\(\\)"},
        {"device memory #.*, made by cuMemAlloc", "allocate_weights\\(unsigned long\\)"},
        {"stream-ordered memory #.*, made by cuMemAllocAsync",
         "allocate_from_pool\\(CUstream_st\\*\\)"},
        {"pinned host memory #.*, made by cuMemHostAlloc", "pin_staging\\(\\)"},
        {"managed memory #.*, made by cuMemAllocManaged", "share_with_host\\(\\)"},
        {"mapped memory #.*, made by cuMemMap", "map_range\\(\\)"},
    };
    EXPECT_TRUE(has(outcome.output, "note: " + std::to_string(makers.size()) + " objects were"));
    for (const auto& [what, function] : makers) {
        EXPECT_TRUE(has(outcome.output, "\n  " + what + ", host thread [0-9]+\n    " +
                                            in(function) + "\n    " + in("leak_everything\\(\\)") +
                                            "\n    " + in("main") + "\n"));
    }
}

TEST(Places, without_symbols_the_file_and_the_place_in_it_remain) {
    const std::string program = CUPRUM_EMULATOR_PLACES_STRIPPED;
    const Outcome outcome = run("CUPRUM_EMULATOR_CHECK=memory", "overrun", program);
    EXPECT_EQ(outcome.status, KERNEL_FAILED) << outcome.output;
    EXPECT_TRUE(has(outcome.output, ", made by cuMemAlloc, host thread [0-9]+\n    at " + program +
                                        "\\+0x[0-9a-f]+\n    at " + program + "\\+0x[0-9a-f]+\n"));
}

TEST(Places, addr2line_takes_what_is_reported) {
    if (shell("addr2line --version").status != 0) {
        GTEST_SKIP() << "addr2line is not installed";
    }
    for (const std::string program :
         {CUPRUM_EMULATOR_PLACES_PROGRAM, CUPRUM_EMULATOR_PLACES_FIXED}) {
        const Outcome outcome = run("CUPRUM_EMULATOR_CHECK=memory", "overrun", program);
        EXPECT_EQ(outcome.status, KERNEL_FAILED) << outcome.output;
        std::smatch found;
        ASSERT_TRUE(std::regex_search(outcome.output, found,
                                      std::regex("in allocate_weights.*\\+(0x[0-9a-f]+)\\)\n")))
            << outcome.output;
        const Outcome name = shell("addr2line -f -e " + program + " " + found[1].str());
        EXPECT_TRUE(has(name.output, "^_Z16allocate_weightsm\n.*places_program.cpp:[0-9]+"));
    }
}

TEST(Places, nothing_is_said_of_places_unless_asked_for) {
    const Outcome fault = run("CUPRUM_EMULATOR_CHECK=window", "freed");
    EXPECT_EQ(fault.status, KERNEL_FAILED) << fault.output;
    EXPECT_TRUE(has(fault.output, "made by cuMemAlloc, host thread [0-9]+\n    freed by "
                                  "cuMemFree, host thread [0-9]+\n  in kernel write"));
    EXPECT_EQ(fault.output.find(PROGRAM), std::string::npos) << fault.output;
    EXPECT_EQ(fault.output.find("launched by"), std::string::npos) << fault.output;
}

} // namespace
