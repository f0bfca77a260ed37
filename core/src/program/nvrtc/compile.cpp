// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/nvrtc/compile.hpp"

#include "device/device_kind.hpp"
#include "launch/parameter_kinds.hpp"
#include "libraries/nvrtc/call.hpp"
#include "program/code/declarations.hpp"
#include "program/code/fatbin.hpp"
#include "program/link/options.hpp"
#include "program/source/include_directives.hpp"
#include "support/warn.hpp"

#include <cuprum/error.hpp>

#include <errno.h>

#include <stdexcept>
#include <system_error>
#include <utility>

namespace cuprum::detail {

namespace {

constexpr const char* LTO_FLAG = "--dlink-time-opt";

[[nodiscard]] std::vector<std::string> options_for(CodeType target, const ProgramState& state);
[[nodiscard]] std::string joined(const std::vector<std::string>& words);
[[nodiscard]] std::shared_ptr<const DebugSource> debug_source_of(ProgramState& state);
void read_pch_status(const nvrtc::Compilation& compilation, const ProgramState& state,
                     Compiled& compiled);
[[nodiscard]] std::vector<std::byte> result_of(const nvrtc::Compilation& compilation,
                                               CodeType target, const ProgramState& state);

} // namespace

Compiled compile_cxx(ProgramState& state, CodeType target,
                     std::span<const std::string> name_expressions, bool keeps_debug_source) {
    Compiled compiled;
    if (keeps_debug_source) {
        compiled.debug_source = debug_source_of(state);
    }
    compiled.name =
        compiled.debug_source != nullptr ? compiled.debug_source->path() : state.options.name;
    const std::vector<std::string> options = options_for(target, state);
    const bool makes_pch =
        state.options.pch.value_or(false) || state.options.create_pch.has_value();
    const auto start = [&] {
        auto compilation = std::make_unique<nvrtc::Compilation>(state.source, compiled.name,
                                                                options, state.options.headers);
        for (const std::string& expression : name_expressions) {
            compilation->add_name_expression(expression);
        }
        if (nvrtc::can_cancel()) {
            compilation->cancel_when_changed(state.cancellations);
        }
        return compilation;
    };
    auto compilation = start();
    compiled.log = compilation->run();
    if (makes_pch && compilation->grow_pch_heap()) {
        compilation = start();
        compiled.log = compilation->run();
    }
    if (makes_pch) {
        read_pch_status(*compilation, state, compiled);
    }
    for (const std::string& expression : name_expressions) {
        compiled.symbols.emplace(expression, compilation->lowered_name(expression));
    }
    if (state.options.fdevice_syntax_only.value_or(false)) {
        return compiled; // checking the syntax makes no code
    }
    compiled.code = result_of(*compilation, target, state);
    if (compiled.code.empty()) {
        throw std::invalid_argument("target \"" + std::string(to_string(target)) +
                                    "\" is not available with these options: " + joined(options));
    }
    return compiled;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::vector<std::string> options_for(CodeType target, const ProgramState& state) {
    std::vector<std::string> options = state.compiler_options;
    // LTO-IR needs the flag, and with the flag NVRTC makes nothing else: the target decides.
    std::erase(options, LTO_FLAG);
    if (target == CodeType::LtoIr) {
        options.emplace_back(LTO_FLAG);
    }
    const bool has_headers = may_include(state.source) || !state.options.headers.empty() ||
                             !state.options.pre_include.empty();
    if (has_headers && state.options.default_include_path.value_or(true)) {
        // The user's own come first.
        for (const std::string& directory : default_include_directories()) {
            options.push_back("--include-path=" + directory);
        }
    }
    return options;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

/// Returns the source file for debuggers, written on first use; null if the program needs none.
std::shared_ptr<const DebugSource> debug_source_of(ProgramState& state) {
    const bool is_debugged =
        state.options.debug.value_or(false) || state.options.lineinfo.value_or(false);
    if (!is_debugged || state.options.name != ProgramOptions::DEFAULT_NAME) {
        return nullptr;
    }
    std::string trouble;
    {
        const std::lock_guard lock(state.mutex);
        if (state.debug_source != nullptr) {
            return state.debug_source;
        }
        try {
            state.debug_source = std::make_shared<DebugSource>(
                state.source,
                state.options.debug_file_prefix.value_or(::program_invocation_short_name));
            return state.debug_source;
        } catch (const std::system_error& error) {
            trouble = error.what();
        }
    }
    warn(WarningKind::Degraded, "the source file for debuggers could not be written: " + trouble +
                                    "; set TMPDIR, or ProgramOptions name to a file");
    return nullptr;
}

void read_pch_status(const nvrtc::Compilation& compilation, const ProgramState& state,
                     Compiled& compiled) {
    const auto [status, reason] = compilation.pch_status();
    compiled.pch_status = status;
    if (status != PchStatus::Failed) {
        return;
    }
    compiled.pch_failure =
        "the precompiled header of program \"" + state.options.name +
        "\" could not be created, so later programs will not compile faster: " + reason;
    if (!compiled.log.empty()) {
        compiled.pch_failure += "; the log:\n" + compiled.log;
    }
}

std::vector<std::byte> result_of(const nvrtc::Compilation& compilation, CodeType target,
                                 const ProgramState& state) {
    if (target == CodeType::Ptx) {
        return compilation.ptx();
    }
    if (target == CodeType::LtoIr) {
        return compilation.ltoir();
    }
    std::vector<std::byte> cubin = compilation.cubin();
    if (cubin.empty()) {
        return cubin;
    }
    const std::vector<std::byte> ptx = compilation.ptx();
    if (!driver::is_device_emulated()) {
        return with_declarations(std::move(cubin),
                                 {reinterpret_cast<const char*>(ptx.data()), ptx.size()});
    }
    // A CPU cannot run a cubin, so the PTX is added. GPUs use the cubin.
    const std::string text = with_register_limit(
        {reinterpret_cast<const char*>(ptx.data()), ptx.size()},
        register_limit(state.options.max_register_count, state.options.ptxas_options));
    return with_ptx(state.arch, cubin, std::as_bytes(std::span(text)));
}

} // namespace

} // namespace cuprum::detail
