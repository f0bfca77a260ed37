// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The command line of ptxas.

#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum::emulator::compilers {

/// A command line that ptxas would refuse.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// What the stand-in needs of the options. It accepts and ignores those about optimisation.
struct PtxasOptions {
    std::string architecture = "sm_75"; // sm_90a, compute_90
    std::string output = "elf.o";
    std::vector<std::string> files;
    std::vector<std::string> texts; // --input-as-string
    std::vector<std::string> entries;
    std::vector<std::string> without_effect; // options that would change more than the speed
    int max_registers = 0;                   // of kernels without a limit; 0: no limit
    bool is_relocatable = false;
    bool is_debug = false;
    bool is_optimized = false; // by an option
    bool has_no_warnings = false;
    bool is_verbose = false;
    bool asks_for_help = false;
    bool asks_for_version = false;
    bool asks_for_ptx_versions = false;

    /// @throws UsageError
    [[nodiscard]] static PtxasOptions parse(const std::vector<std::string>& arguments);

    /// Returns whether the code is only checked: the architecture is a virtual one.
    [[nodiscard]] bool is_check() const { return architecture.starts_with("compute_"); }

    /// Returns the number of the architecture: 90 for sm_90a.
    [[nodiscard]] unsigned sm() const;
};

} // namespace cuprum::emulator::compilers
