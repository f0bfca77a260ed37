// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Options of the linkers: those of a Linker, and those that a program in PTX passes on.

#pragma once

#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cuprum::detail {

/// Returns options as nvJitLink takes them.
/// @throws std::invalid_argument that names a bad value.
[[nodiscard]] std::vector<std::string> nvjitlink_flags(const LinkerOptions& options);

/// Checks that the driver's linker supports the options. nvJitLink supports all of them.
/// @throws UnsupportedOptionError that names the option.
void check_driver_link_options(const LinkerOptions& options);

/// Returns the limit of registers that options set, by themselves or for the assembler.
[[nodiscard]] std::optional<int> register_limit(std::optional<int> max_register_count,
                                                const std::vector<std::string>& ptxas_options);

/// Returns whether options change what the driver reports about kernels that are PTX, or which
/// kernels there are.
[[nodiscard]] bool changes_ptx(const LinkerOptions& options);

/// Returns how PTX is linked under a program's options. Options that no linker has are left out.
[[nodiscard]] LinkerOptions linker_options_of(const ProgramOptions& options);

} // namespace cuprum::detail
