// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/compiler.hpp>
#include <cuprum/program.hpp>
#include <cuprum/program_cache.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace cuprum::detail {

/// What a key holds about a source. Computing it takes longer than the rest of the key, so a
/// program keeps it.
struct SourceFacts {
    explicit SourceFacts(std::string_view code);

    std::string digest;         // SHA-256
    bool may_read_files = true; // false: the source certainly reads no file
};

/// Returns the key of a compilation. `toolchain` identifies the compiler, see toolchain_of().
[[nodiscard]] std::string make_key(const ProgramCacheKeyParts& parts, const SourceFacts& facts,
                                   std::string_view toolchain);

/// Returns a text that identifies the very build of the compiler for a language: its name, its
/// version and the build id of its file, or the file's size and time. A patch update changes it.
///
/// The files are read once per process.
[[nodiscard]] std::string toolchain_of(SourceType language);

/// Returns a digest of the files that a source may include: every file that an #include directive
/// could refer to, and the files these include. CUDA's own headers have a fingerprint instead.
/// Empty if the source includes nothing.
///
/// Conditions are not evaluated, so files in a skipped branch count, and so do files that are
/// absent: the digest may change without need, but never misses a change.
/// @throws std::invalid_argument if a macro names a file.
[[nodiscard]] std::string dependency_digest(std::string_view code, const ProgramOptions& options);

/// How many files the process remembers, so that it reads each of them once.
constexpr std::size_t MAX_REMEMBERED_FILES = 8192;

/// Returns how many files it remembers now, for tests.
[[nodiscard]] std::size_t remembered_files();

} // namespace cuprum::detail
