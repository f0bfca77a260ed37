// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Programs that a test runs, like a user in a shell.

#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <sys/wait.h>

namespace cuprum::emulator::test {

/// How a program ended, and its output.
struct Outcome {
    int status = -1;
    std::string output; // both streams
};

/// Runs a line in the shell.
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
