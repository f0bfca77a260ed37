// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_state.hpp"
#include "libraries/nvrtc.hpp"
#include "program/code/image.hpp"
#include "program/code/packing.hpp"
#include "program/nvrtc.hpp"
#include "program/nvvm.hpp"
#include "program/options.hpp"
#include "program/parameter_kinds.hpp"
#include "program/program_state.hpp"
#include "program/progress.hpp"
#include "program/source/includes.hpp"
#include "support/warn.hpp"

#include <cuprum/error.hpp>
#include <cuprum/linker.hpp>

#include <errno.h>

#include <array>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace cuprum::detail {

namespace {

[[noreturn]] void refuse_target(CodeType target, const char* whom, const char* expected) {
    throw std::invalid_argument("target \"" + std::string(to_string(target)) +
                                "\" is not supported " + whom + "; expected " + expected);
}

std::string progress_text(const ProgramState& state) {
    return "compiling " + state.options.name + " for " + state.arch;
}

constexpr const char* LTO_FLAG = "--dlink-time-opt";

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

class Nvrtc final : public ProgramBackend {
public:
    [[nodiscard]] CompilerBackend find(const ProgramOptions& /*options*/) const override {
        static_cast<void>(nvrtc::table().nvrtcGetErrorString(NVRTC_SUCCESS));
        return CompilerBackend::Nvrtc;
    }

    [[nodiscard]] std::vector<std::string> flags(const ProgramOptions& options,
                                                 CodeType /*target*/) const override {
        return options.to_nvrtc();
    }

    void check_target(const ProgramState& state, CodeType target) const override {
        if (target != CodeType::Ptx && target != CodeType::Cubin && target != CodeType::LtoIr) {
            refuse_target(target, "by NVRTC", "\"ptx\", \"cubin\" or \"ltoir\"");
        }
        if (target == CodeType::Cubin && state.arch.starts_with("compute_")) {
            throw std::invalid_argument(
                "target \"cubin\" needs a real architecture, but arch is \"" + state.arch +
                "\", a virtual one; pass \"sm_" + state.arch.substr(8) +
                "\" or compile to \"ptx\"");
        }
    }

    [[nodiscard]] Compiled compile(ProgramState& state, CodeType target,
                                   std::span<const std::string> name_expressions,
                                   bool keeps_debug_source) const override {
        const CompileProgress progress(progress_text(state));
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
            throw std::invalid_argument(
                "target \"" + std::string(to_string(target)) +
                "\" is not available with these options: " + joined(options));
        }
        return compiled;
    }

    [[nodiscard]] std::shared_ptr<void> start(const ProgramState& state) const override {
        auto compilation = std::make_shared<nvrtc::Compilation>(
            state.source, state.options.name, state.compiler_options, state.options.headers);
        return {compilation, compilation->get()};
    }
};

class LibNvvm final : public ProgramBackend {
public:
    [[nodiscard]] CompilerBackend find(const ProgramOptions& /*options*/) const override {
        static_cast<void>(nvvm::table().nvvmGetErrorString(nvvm::NVVM_SUCCESS));
        return CompilerBackend::Nvvm;
    }

    [[nodiscard]] std::vector<std::string> flags(const ProgramOptions& options,
                                                 CodeType target) const override {
        return options.to_nvvm(target);
    }

    void check_target(const ProgramState& /*state*/, CodeType target) const override {
        if (target != CodeType::Ptx && target != CodeType::LtoIr) {
            refuse_target(target, "for NVVM", "\"ptx\" or \"ltoir\"");
        }
    }

    [[nodiscard]] Compiled compile(ProgramState& state, CodeType target,
                                   std::span<const std::string> /*name_expressions*/,
                                   bool /*keeps_debug_source*/) const override {
        const CompileProgress progress(progress_text(state));
        const auto compilation = begin(state, target);
        Compiled compiled;
        compiled.log = compilation->run();
        compiled.code = compilation->result();
        compiled.name = state.options.name;
        return compiled;
    }

    [[nodiscard]] std::shared_ptr<void> start(const ProgramState& state) const override {
        const auto compilation = begin(state, CodeType::Ptx);
        return {compilation, compilation->get()};
    }

private:
    /// Returns a compilation that holds a program's modules and was not run yet.
    [[nodiscard]] static std::shared_ptr<nvvm::Compilation> begin(const ProgramState& state,
                                                                  CodeType target) {
        auto compilation = std::make_shared<nvvm::Compilation>(state.options.to_nvvm(target));
        compilation->add(state.source, state.options.name);
        for (const auto& [name, code] : state.options.extra_sources) {
            compilation->add(code, name);
        }
        if (state.options.use_libdevice.value_or(false)) {
            compilation->add_library(nvvm::libdevice(), "libdevice.10.bc");
        }
        return compilation;
    }
};

/// Links PTX. A linker shows its own progress.
class PtxLinker final : public ProgramBackend {
public:
    [[nodiscard]] CompilerBackend find(const ProgramOptions& options) const override {
        const CompilerBackend found = Linker::which_backend();
        if (options.numba_debug.value_or(false)) {
            warn(WarningKind::Degraded, "ProgramOptions numba_debug is ignored for a program in "
                                        "PTX: no linker has such an option");
        }
        options.to_linker().check_honoured(found);
        return found;
    }

    [[nodiscard]] std::vector<std::string> flags(const ProgramOptions& options,
                                                 CodeType /*target*/) const override {
        return options.to_linker().to_nvjitlink();
    }

    void check_target(const ProgramState& /*state*/, CodeType target) const override {
        if (target != CodeType::Cubin && target != CodeType::Ptx) {
            refuse_target(target, "for PTX", "\"cubin\" or \"ptx\"");
        }
    }

    [[nodiscard]] Compiled compile(ProgramState& state, CodeType target,
                                   std::span<const std::string> /*name_expressions*/,
                                   bool /*keeps_debug_source*/) const override {
        const Linker linker = linker_for(state);
        const ObjectCode linked = linker.link(target);
        Compiled compiled;
        compiled.code.assign(linked.code().begin(), linked.code().end());
        compiled.log = linker.info_log();
        compiled.name = state.options.name;
        return compiled;
    }

    [[nodiscard]] std::shared_ptr<void> start(const ProgramState& state) const override {
        auto linker = std::make_shared<Linker>(linker_for(state));
        return {linker, linker->handle()};
    }

private:
    [[nodiscard]] static Linker linker_for(const ProgramState& state) {
        const std::array codes{ObjectCode::from_bytes(
            CodeType::Ptx, std::as_bytes(std::span(state.source)), state.options.name)};
        return Linker(codes, state.options.to_linker());
    }
};

} // namespace

const ProgramBackend& backend_of(SourceType language) noexcept {
    static constinit const Nvrtc nvrtc;
    static constinit const LibNvvm nvvm;
    static constinit const PtxLinker linker;
    return language == SourceType::Cxx    ? static_cast<const ProgramBackend&>(nvrtc)
           : language == SourceType::Nvvm ? static_cast<const ProgramBackend&>(nvvm)
                                          : linker;
}

} // namespace cuprum::detail
