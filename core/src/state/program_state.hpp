// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/program.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace cuprum::detail {

/// A program's source and how it is compiled. NVRTC's own object lives only while it compiles.
struct ProgramState {
    std::string source;
    ProgramOptions options;
    std::string arch; // the options' own, or the device's
    std::vector<std::string> compiler_options;

    std::mutex mutex; // guards `log`
    std::string log;
};

} // namespace cuprum::detail
