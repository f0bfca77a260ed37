// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "program/cache/key.hpp"
#include "program/nvrtc/compilation.hpp"
#include "program/nvvm/compilation.hpp"
#include "program/source/debug_source.hpp"
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
    // The objects behind the handle that the user asked for.
    std::unique_ptr<nvrtc::Compilation> nvrtc_handle;
    std::unique_ptr<nvvm::Compilation> nvvm_handle;
    std::optional<Linker> linker;
};

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

} // namespace cuprum::detail
