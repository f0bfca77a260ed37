// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// Checks the form of an architecture's name, such as "sm_90", "sm_90a" or "compute_100f". The
/// compiler reports names of this form that it does not support.
/// @throws std::invalid_argument that names the class `options`.
void check_arch(const char* options, const std::string& arch);

/// Returns the number and suffix of an architecture: "90a" of "sm_90a".
[[nodiscard]] std::string_view arch_number(std::string_view arch) noexcept;

/// Returns a program's options as NVRTC takes them.
/// @throws std::invalid_argument that names a bad value.
[[nodiscard]] std::vector<std::string> nvrtc_flags(const ProgramOptions& options);

/// Checks that the compiler of a language supports every option that is set.
/// @throws UnsupportedOptionError that lists those it does not.
void check_options(const ProgramOptions& options, SourceType language);

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
