// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Programs that are run from a test, as a user would in a shell.

#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <sys/wait.h>

namespace cuprum::emulator::test {

/// How a program ended, and what it wrote.
struct Outcome {
    int status = -1;
    std::string output; // both streams
};

/// Runs a line of the shell.
inline Outcome shell(const std::string& line) {
    Outcome outcome;
    std::FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    char buffer[256];
    while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) {
        outcome.output += buffer;
    }
    const int status = ::pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

} // namespace cuprum::emulator::test
