// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/cache/key.hpp"
#include "program/source/debug_source.hpp"
#include "program/nvrtc/compilation.hpp"
#include "program/nvvm/compilation.hpp"
#include "support/lazy.hpp"

#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace cuprum::detail {

/// A program's source and how it is compiled. A compiler's own object lives only while it compiles,
/// unless the user asked for one.
struct ProgramState {
    std::string source;
    SourceType language = SourceType::Cxx;
    CompilerBackend backend = CompilerBackend::Nvrtc;
    ProgramOptions options;
    std::string arch; // the options' own, or the device's
    std::vector<std::string> compiler_options;

    std::atomic<unsigned> cancellations{0};
    Lazy<SourceFacts> source_facts; // for keys of caches

    std::mutex mutex; // guards what follows
    std::string log;
    std::optional<PchStatus> pch_status;
    std::shared_ptr<const DebugSource> debug_source;
    // What the user's handle is of.
    std::unique_ptr<nvrtc::Compilation> nvrtc_handle;
    std::unique_ptr<nvvm::Compilation> nvvm_handle;
    std::optional<Linker> linker;
};

/// What a compiler made.
struct Compiled {
    std::vector<std::byte> code;
    SymbolMapping symbols;
    std::string log;
    std::optional<PchStatus> pch_status;
    std::string pch_failure;                         // why, if it failed
    std::string name;                                // of the result
    std::shared_ptr<const DebugSource> debug_source; // if the name is that of a file
};

/// Compile with one compiler each. The caller keeps the log; a failed compilation has it in the
/// error.
[[nodiscard]] Compiled compile_cxx(ProgramState& state, CodeType target,
                                   std::span<const std::string> name_expressions,
                                   bool keeps_debug_source);
[[nodiscard]] Compiled compile_ptx(const ProgramState& state, CodeType target);
[[nodiscard]] Compiled compile_nvvm(const ProgramState& state, CodeType target);

/// Starts a compilation of a program, not run yet.
[[nodiscard]] std::unique_ptr<nvvm::Compilation> start_nvvm(const ProgramState& state,
                                                            CodeType target);

} // namespace cuprum::detail
