// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// Looks for a program in the folders of PATH. Skips relative folders: what they mean depends on
/// the current folder, where anybody may have put a program. Adds the folders that it looked in to
/// `tried`. Returns an empty text if there is no such program.
[[nodiscard]] std::string find_program(const std::string& name, std::vector<std::string>& tried);

/// What a program wrote and how it ended.
struct ProgramRun {
    std::string output;
    std::string errors;
    int exit_code = 0; // negative: minus the number of the signal that ended it
    bool is_timed_out = false;
};

/// Runs a program with arguments and an input, without a shell, and waits for it. Kills it after
/// the limit.
/// @throws std::runtime_error if it cannot be started.
[[nodiscard]] ProgramRun run_program(const std::string& path,
                                     const std::vector<std::string>& arguments,
                                     std::string_view input, std::chrono::milliseconds limit);

} // namespace cuprum::detail
