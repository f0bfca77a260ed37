// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/program.hpp>

#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "libraries/nvrtc/call.hpp"
#include "program/cache/forgiving_cache.hpp"
#include "program/cache/key.hpp"
#include "program/cache/load.hpp"
#include "program/cache/toolchain.hpp"
#include "program/code/symbol_table.hpp"
#include "program/library_state.hpp"
#include "program/link/compile.hpp"
#include "program/link/options.hpp"
#include "program/nvrtc/compile.hpp"
#include "program/nvrtc/options.hpp"
#include "program/nvvm/compile.hpp"
#include "program/nvvm/options.hpp"
#include "program/options_check.hpp"
#include "program/program_state.hpp"
#include "program/progress.hpp"
#include "support/quiet_lock.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/program_cache.hpp>

#include <stdexcept>
#include <string_view>

namespace cuprum {

namespace {

using detail::ProgramState;

void check_source(std::string_view source, SourceType language, const ProgramOptions& options);
void check_target(CodeType target, const ProgramState& state);
[[nodiscard]] detail::Compiled run(ProgramState& state, CodeType target,
                                   std::span<const std::string> names, bool keeps_debug_source);
void check_driver(const ProgramState& state);
[[nodiscard]] ObjectCode compile_through(ProgramCache& cache, const std::string& key,
                                         const Program& program, CodeType target,
                                         const CompileRequest& request);
[[nodiscard]] bool has_key(const std::string& key, const Program& program, CodeType target,
                           const CompileRequest& request);
[[nodiscard]] std::optional<std::string> key_if_cacheable(const Program& program, CodeType target,
                                                          const CompileRequest& request);
[[nodiscard]] ObjectCode object_of(CodeType target, detail::Compiled compiled);

} // namespace

std::vector<std::string> ProgramOptions::to_nvrtc() const {
    return nvrtc::flags_of(*this);
}

std::vector<std::string> ProgramOptions::to_nvvm(CodeType target) const {
    return nvvm::flags_of(*this, target);
}

LinkerOptions ProgramOptions::to_linker() const {
    return detail::linker_options_of(*this);
}

void ProgramOptions::check_honoured(SourceType language) const {
    detail::check_options(*this, language);
}

Program::Program(std::string_view source, ProgramOptions options)
    : Program(source, SourceType::Cxx, std::move(options)) {}

Program::Program(std::string_view source, SourceType language, ProgramOptions options)
    : state_(std::make_shared<ProgramState>()) {
    check_source(source, language, options);
    options.check_honoured(language);
    state_->source = source;
    state_->language = language;
    state_->options = std::move(options);
    // Read the device here: a program compiles the same after another device becomes current.
    const std::optional<std::string>& wanted = state_->options.arch;
    state_->arch = wanted.has_value() ? *wanted : "sm_" + Device().arch();
    state_->options.arch = state_->arch;
    switch (language) {
    case SourceType::Cxx:
        // Finds NVRTC, or throws.
        static_cast<void>(nvrtc::table().nvrtcGetErrorString(NVRTC_SUCCESS));
        state_->backend = CompilerBackend::Nvrtc;
        state_->compiler_options = state_->options.to_nvrtc();
        break;
    case SourceType::Nvvm:
        static_cast<void>(nvvm::table().nvvmGetErrorString(nvvm::NVVM_SUCCESS));
        state_->backend = CompilerBackend::Nvvm;
        state_->compiler_options = state_->options.to_nvvm(CodeType::Ptx);
        break;
    case SourceType::Ptx:
        state_->backend = Linker::which_backend();
        if (state_->options.numba_debug.value_or(false)) {
            detail::warn(
                WarningKind::Degraded,
                "ProgramOptions numba_debug is ignored for a program in PTX: no linker has "
                "such an option");
        }
        state_->options.to_linker().check_honoured(state_->backend);
        state_->compiler_options = state_->options.to_linker().to_nvjitlink();
        break;
    }
}

ObjectCode Program::compile(CodeType target, std::span<const std::string> name_expressions) const {
    return compile(target, CompileRequest{.name_expressions = {name_expressions.begin(),
                                                               name_expressions.end()}});
}

ObjectCode Program::compile(CodeType target, const CompileRequest& request) const {
    ProgramState& state = detail::open(state_, "Program");
    for (const std::string& name : request.name_expressions) {
        detail::check_has_no_nul("name_expressions", name);
    }
    if (request.cache != nullptr) {
        const std::string key = cache_key(target, request.name_expressions, request.extra_digest);
        return compile_through(*request.cache, key, *this, target, request);
    }
    if (const std::shared_ptr<ProgramCache> cache = default_program_cache()) {
        if (const auto key = key_if_cacheable(*this, target, request)) {
            detail::ForgivingCache forgiving(*cache);
            ObjectCode code = compile_through(forgiving, *key, *this, target, request);
            if (!forgiving.trouble().empty()) {
                detail::warn(WarningKind::Degraded,
                             "the default program cache failed and was not used: " +
                                 forgiving.trouble());
            }
            return code;
        }
    }
    return object_of(target, run(state, target, request.name_expressions, true));
}

void Program::cancel() const {
    ProgramState& state = detail::open(state_, "Program");
    if (state.language != SourceType::Cxx) {
        throw std::invalid_argument("a program in " + std::string(to_string(state.language)) +
                                    " cannot be cancelled: only NVRTC, which compiles C++, "
                                    "supports it");
    }
    if (!nvrtc::can_cancel()) {
        static_cast<void>(
            nvrtc::Library::resolve("nvrtcSetFlowCallback")); // throws, with the version needed
    }
    state.cancellations.fetch_add(1);
}

std::string Program::cache_key(CodeType target, std::span<const std::string> name_expressions,
                               const std::optional<std::string>& extra_digest) const {
    ProgramState& state = detail::open(state_, "Program");
    check_target(target, state);
    check_cacheable(state.language, state.options, extra_digest.has_value());
    std::vector<std::string> nvvm_options;
    if (state.language == SourceType::Nvvm) {
        nvvm_options = nvvm::flags_of(state.options, target); // these depend on the target
    }
    const bool is_cxx = state.language == SourceType::Cxx;
    const detail::SourceFacts& facts =
        state.source_facts.get([&state] { return detail::SourceFacts(state.source); });
    std::string files;
    if (is_cxx && !extra_digest.has_value() && // a digest stands for the files
        (facts.may_read_files || !state.options.headers.empty() ||
         !state.options.pre_include.empty())) {
        files = included_files_digest(state.source, state.options);
    }
    return detail::make_key(
        {.code = state.source,
         .language = state.language,
         .target = target,
         .compiler_options = nvvm_options.empty() ? state.compiler_options : nvvm_options,
         .name = state.options.name,
         .name_expressions = is_cxx ? name_expressions : std::span<const std::string>(),
         .extra_sources = state.options.extra_sources,
         .headers = state.options.headers,
         .uses_libdevice = state.options.use_libdevice.value_or(false),
         .uses_default_include_path = state.options.default_include_path.value_or(true),
         .included_files = files,
         .extra_digest = extra_digest.has_value() ? std::optional<std::string_view>(*extra_digest)
                                                  : std::nullopt},
        facts, detail::toolchain_of(state.language));
}

SourceType Program::language() const {
    return detail::open(state_, "Program").language;
}

CompilerBackend Program::backend() const {
    return detail::open(state_, "Program").backend;
}

std::string Program::log() const {
    ProgramState& state = detail::open(state_, "Program");
    const std::lock_guard lock(state.mutex);
    return state.log;
}

std::optional<PchStatus> Program::pch_status() const {
    ProgramState& state = detail::open(state_, "Program");
    const std::lock_guard lock(state.mutex);
    return state.pch_status;
}

const ProgramOptions& Program::options() const {
    return detail::open(state_, "Program").options;
}

std::vector<std::string> Program::compiler_options() const {
    return detail::open(state_, "Program").compiler_options;
}

void* Program::handle() const {
    ProgramState& state = detail::open(state_, "Program");
    const detail::QuietLock lock(state.mutex);
    switch (state.language) {
    case SourceType::Cxx:
        if (state.nvrtc_handle == nullptr) {
            state.nvrtc_handle = std::make_unique<nvrtc::Compilation>(
                state.source, state.options.name, state.compiler_options, state.options.headers);
        }
        return state.nvrtc_handle->get();
    case SourceType::Nvvm:
        if (state.nvvm_handle == nullptr) {
            state.nvvm_handle = detail::start_nvvm(state, CodeType::Ptx);
        }
        return state.nvvm_handle->get();
    case SourceType::Ptx:
        if (!state.linker.has_value()) {
            state.linker.emplace(detail::linker_for(state));
        }
        return state.linker->handle();
    }
    return nullptr;
}

std::string to_string(const Program& program) {
    return program.is_closed() ? "<Program closed>"
                               : "<Program " + std::string(to_string(program.language())) +
                                     " name=" + detail::quoted(program.options().name) + ">";
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void check_source(std::string_view source, SourceType language, const ProgramOptions& options) {
    const std::size_t nul = source.find('\0');
    if (language != SourceType::Nvvm && nul != std::string_view::npos) {
        throw std::invalid_argument("source has a NUL character at position " +
                                    std::to_string(nul) + "; the compiler would ignore the rest");
    }
    if (options.name.empty() || options.name.find('\0') != std::string::npos) {
        throw std::invalid_argument("ProgramOptions name is " + detail::quoted(options.name) +
                                    "; expected a text that is not empty and has no NUL "
                                    "character: it is what the log calls the source");
    }
    for (const auto& [name, text] : options.headers) {
        if (name.empty() || name.find('\0') != std::string::npos ||
            text.find('\0') != std::string::npos) {
            throw std::invalid_argument("ProgramOptions headers has " + detail::quoted(name) +
                                        "; expected a name that is not empty, and no NUL "
                                        "character in name or text");
        }
    }
    for (const auto& [name, code] : options.extra_sources) {
        if (code.empty()) {
            throw std::invalid_argument("ProgramOptions extra_sources has \"" + name +
                                        "\", which is empty");
        }
    }
}

void check_cxx_target(CodeType target, const ProgramState& state) {
    const std::string& arch = state.arch;
    switch (target) {
    case CodeType::LtoIr:
        return;
    case CodeType::Cubin:
        if (arch.starts_with("compute_")) {
            throw std::invalid_argument(
                "target \"cubin\" needs a real architecture, but arch is \"" + arch +
                "\", a virtual one; pass \"sm_" + arch.substr(8) + "\" or compile to \"ptx\"");
        }
        [[fallthrough]];
    case CodeType::Ptx:
        return;
    default:
        throw std::invalid_argument("target \"" + std::string(to_string(target)) +
                                    "\" is not supported by NVRTC; expected \"ptx\", \"cubin\" or "
                                    "\"ltoir\"");
    }
}

void check_target(CodeType target, const ProgramState& state) {
    switch (state.language) {
    case SourceType::Cxx:
        check_cxx_target(target, state);
        return;
    case SourceType::Ptx:
        if (target != CodeType::Cubin && target != CodeType::Ptx) {
            throw std::invalid_argument(
                "target \"" + std::string(to_string(target)) +
                "\" is not supported for PTX; expected \"cubin\" or \"ptx\"");
        }
        return;
    case SourceType::Nvvm:
        if (target != CodeType::Ptx && target != CodeType::LtoIr) {
            throw std::invalid_argument(
                "target \"" + std::string(to_string(target)) +
                "\" is not supported for NVVM; expected \"ptx\" or \"ltoir\"");
        }
        return;
    }
}

/// Warns if a driver is in use and is too old for the PTX of this compiler.
void check_driver(const ProgramState& state) {
    if (state.language != SourceType::Cxx ||
        driver::detail::initialised_table.load(std::memory_order_acquire) != &driver::table() ||
        driver::is_emulated()) {
        return; // do not load a driver for this check; the emulated device accepts all PTX
    }
    int major = 0;
    int minor = 0;
    int supported = 0;
    nvrtc::call(nvrtc::table().nvrtcVersion, &major, &minor);
    driver::call(driver::table().cuDriverGetVersion, &supported);
    if (major * 1000 + minor * 10 > supported) {
        detail::warn(WarningKind::Degraded,
                     "The CUDA driver version is older than the backend version: NVRTC " +
                         std::to_string(major) + "." + std::to_string(minor) +
                         " generates PTX that a driver for CUDA " +
                         std::to_string(supported / 1000) + "." +
                         std::to_string(supported % 1000 / 10) +
                         " may refuse; compile to a cubin, or update the driver");
    }
}

detail::Compiled run(ProgramState& state, CodeType target, std::span<const std::string> names,
                     bool keeps_debug_source) {
    check_target(target, state);
    if (!names.empty() && state.language != SourceType::Cxx) {
        throw std::invalid_argument("name_expressions has \"" + names.front() +
                                    "\", but only C++ has such names; find a kernel in " +
                                    std::string(to_string(state.language)) +
                                    " by its name in the code");
    }
    const auto keep = [&state](std::string log, std::optional<PchStatus> pch) {
        const std::lock_guard lock(state.mutex);
        state.log = std::move(log);
        state.pch_status = pch;
    };
    detail::Compiled compiled;
    try {
        const std::string what = "compiling " + state.options.name + " for " + state.arch;
        switch (state.language) {
        case SourceType::Cxx: {
            const detail::CompileProgress progress(what);
            compiled = detail::compile_cxx(state, target, names, keeps_debug_source);
            break;
        }
        case SourceType::Ptx: // a linker, which shows its own progress
            compiled = detail::compile_ptx(state, target);
            break;
        case SourceType::Nvvm: {
            const detail::CompileProgress progress(what);
            compiled = detail::compile_nvvm(state, target);
            break;
        }
        }
    } catch (const CompilerError& error) {
        keep(error.log(), std::nullopt);
        throw;
    }
    keep(compiled.log, compiled.pch_status);
    if (!compiled.pch_failure.empty()) {
        detail::warn(WarningKind::Degraded, compiled.pch_failure);
    }
    if (target == CodeType::Ptx) {
        check_driver(state);
    }
    return compiled;
}

ObjectCode compile_through(ProgramCache& cache, const std::string& key, const Program& program,
                           CodeType target, const CompileRequest& request) {
    ProgramState& state = *detail::Access::state(program);
    const std::vector<std::string>& names = request.name_expressions;
    const bool has_names = !names.empty() && state.language == SourceType::Cxx;
    if (auto found = detail::load(cache, key)) {
        detail::CodeWithSymbols cached{*std::move(found), {}};
        if (!has_names || detail::take_symbols(cached)) {
            {
                const std::lock_guard lock(state.mutex);
                state.log.clear(); // nothing was compiled
                state.pch_status.reset();
            }
            if (target == CodeType::Ptx) {
                check_driver(state);
            }
            return detail::Access::make<ObjectCode>(std::make_shared<detail::LibraryState>(
                target, std::move(cached.code), std::string(), state.options.name,
                std::move(cached.symbols)));
        }
    }
    // Cached code outlives a source file for debuggers, so it keeps the plain name.
    detail::Compiled compiled = run(state, target, names, false);
    // If a header changed meanwhile, the compiler may have read it before or after the change.
    if (has_key(key, program, target, request)) {
        cache.put(key, has_names ? detail::with_symbols(compiled.symbols, compiled.code)
                                 : compiled.code);
    }
    return object_of(target, std::move(compiled));
}

/// Returns whether a program has this key now. A header that cannot be read any more changed too.
bool has_key(const std::string& key, const Program& program, CodeType target,
             const CompileRequest& request) {
    try {
        return program.cache_key(target, request.name_expressions, request.extra_digest) == key;
    } catch (const std::exception&) {
        return false;
    }
}

/// Returns the key for the default cache, or nothing for a program that is not cached.
std::optional<std::string> key_if_cacheable(const Program& program, CodeType target,
                                            const CompileRequest& request) {
    const ProgramOptions& options = program.options();
    if (options.debug.value_or(false) || options.lineinfo.value_or(false) ||
        options.fdevice_syntax_only.value_or(false)) {
        return std::nullopt;
    }
    try {
        return program.cache_key(target, request.name_expressions, request.extra_digest);
    } catch (const std::invalid_argument&) {
        // NOTE: nobody asked to cache this program. The compilation reports bad arguments.
        return std::nullopt;
    } catch (const std::exception& error) {
        detail::warn(WarningKind::Degraded,
                     std::string("the default program cache failed and was not used: ") +
                         error.what());
        return std::nullopt;
    }
}

ObjectCode object_of(CodeType target, detail::Compiled compiled) {
    ObjectCode code = ObjectCode::from_bytes(target, compiled.code, std::move(compiled.name),
                                             std::move(compiled.symbols));
    detail::Access::state(code)->source_file = std::move(compiled.debug_source);
    return code;
}

} // namespace

} // namespace cuprum

std::size_t std::hash<cuprum::Program>::operator()(const cuprum::Program& program) const noexcept {
    return std::hash<const void*>()(cuprum::detail::Access::state(program).get());
}
