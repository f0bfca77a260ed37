// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/cache/key.hpp"
#include "program/source/debug_source.hpp"
#include "support/once.hpp"

#include <cuprum/program.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cuprum::detail {

/// The result of one compilation.
struct Compiled {
    std::vector<std::byte> code;
    SymbolMapping symbols;
    std::string log;
    std::optional<PchStatus> pch_status;
    std::string pch_failure;                         // the reason, if it failed
    std::string name;                                // of the result
    std::shared_ptr<const DebugSource> debug_source; // if the name is that of a file
};

struct ProgramState;

/// The compiler of one language. One object serves all programs.
class ProgramBackend {
public:
    ProgramBackend() = default;
    ProgramBackend(const ProgramBackend&) = delete;
    ProgramBackend& operator=(const ProgramBackend&) = delete;

    /// Finds the compiler, checks that it supports the program's options, and returns which one it
    /// is.
    /// @throws LibraryNotFoundError, or UnsupportedOptionError.
    [[nodiscard]] virtual CompilerBackend find(const ProgramOptions& options) const = 0;
    /// Returns the options as the compiler takes them for a target.
    [[nodiscard]] virtual std::vector<std::string> flags(const ProgramOptions& options,
                                                         CodeType target) const = 0;
    /// @throws std::invalid_argument for a target that the compiler does not have.
    virtual void check_target(const ProgramState& state, CodeType target) const = 0;
    /// Compiles. If `keeps_debug_source`, a program in C++ that is compiled for debuggers gets a
    /// source file.
    /// @throws CompilerError with log, options and advice.
    [[nodiscard]] virtual Compiled compile(ProgramState& state, CodeType target,
                                           std::span<const std::string> name_expressions,
                                           bool keeps_debug_source) const = 0;
    /// Returns the compiler's own object for a program, not compiled, which the result keeps alive.
    [[nodiscard]] virtual std::shared_ptr<void> start(const ProgramState& state) const = 0;

protected:
    ~ProgramBackend() = default;
};

/// Returns the compiler of a language.
[[nodiscard]] const ProgramBackend& backend_of(SourceType language) noexcept;

/// A program's source and how it is compiled. The compiler's own object lives only while it
/// compiles, unless the user asks for a handle.
struct ProgramState {
    std::string source;
    SourceType language = SourceType::Cxx;
    CompilerBackend backend = CompilerBackend::Nvrtc;
    ProgramOptions options;
    std::string arch; // from the options, or the device's
    std::vector<std::string> compiler_options;

    std::atomic<unsigned> cancellations{0};
    Lazy<SourceFacts> source_facts; // for the keys of caches

    std::mutex mutex; // guards what follows
    std::string log;
    std::optional<PchStatus> pch_status;
    std::shared_ptr<const DebugSource> debug_source;
    std::shared_ptr<void> handle; // that the user asked for
};

} // namespace cuprum::detail
