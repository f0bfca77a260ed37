// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace cuprum {

/// The language of a program's source.
enum class SourceType { Cxx, Ptx, Nvvm };

/// The library that compiles or links.
enum class CompilerBackend { Nvrtc, Nvvm, NvJitLink, Driver };

/// The result of creating a precompiled header.
enum class PchStatus { Created, NotAttempted, Failed };

/// Return the names as options and messages spell them: "c++", "NVRTC", "not_attempted"...
[[nodiscard]] CUPRUM_API std::string_view to_string(SourceType type) noexcept;
/// Returns the name of a compiler.
[[nodiscard]] CUPRUM_API std::string_view to_string(CompilerBackend backend) noexcept;
/// Returns the name of a state.
[[nodiscard]] CUPRUM_API std::string_view to_string(PchStatus status) noexcept;

/// Returns the architectures that NVRTC compiles for, ascending, as in 90 for sm_90. Needs no
/// device.
[[nodiscard]] CUPRUM_API std::vector<int> supported_architectures();

/// Returns the version of a compiler, such as "13.0"; for the driver, the CUDA version it supports.
/// @throws LibraryNotFoundError if it cannot be found.
[[nodiscard]] CUPRUM_API std::string compiler_version(CompilerBackend backend);

/// Returns the folders of CUDA's and CCCL's headers, from the toolkit or from Python's packages.
/// Programs search them by default. Empty if there are none.
[[nodiscard]] CUPRUM_API const std::vector<std::string>& default_include_directories();

} // namespace cuprum
