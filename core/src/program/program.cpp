// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/program.hpp>

#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "libraries/nvrtc.hpp"
#include "program/cache/key.hpp"
#include "program/code/packing.hpp"
#include "program/library_state.hpp"
#include "program/nvrtc.hpp"
#include "program/nvvm.hpp"
#include "program/options.hpp"
#include "program/program_state.hpp"
#include "support/locks.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/program_cache.hpp>

#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

namespace cuprum {

namespace {

using detail::ProgramState;

/// A cache as a compilation uses it. The failures of a default cache are not errors: a program that
/// did not ask for a cache compiles anyway.
///
/// It forgives every exception, std::bad_alloc too: the compilation that follows needs no cache,
/// and throws by itself if there really is no memory left.
class UsedCache {
public:
    UsedCache(ProgramCache& cache, bool is_default) noexcept
        : cache_(cache), is_default_(is_default) {}

    /// Returns what the cache holds under a key, or nothing.
    [[nodiscard]] std::optional<detail::PaddedCode> load(std::string_view key) {
        return attempt([&] { return detail::Access::load(cache_, key); });
    }

    void store(std::string_view key, std::span<const std::byte> code) {
        attempt([&] {
            cache_.put(key, code);
            return true;
        });
    }

    /// Returns the first failure that was forgiven; empty if there was none.
    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

private:
    template <typename Action>
    auto attempt(const Action& action) -> decltype(action()) {
        if (!is_default_) {
            return action();
        }
        try {
            return action();
        } catch (const std::bad_alloc&) {
            note("out of memory"); // short enough to need no allocation
        } catch (const std::exception& error) {
            note(error.what());
        } catch (...) {
            note("it threw something that is not a std::exception");
        }
        return {};
    }

    void note(const char* failure) {
        if (trouble_.empty()) {
            trouble_ = failure;
        }
    }

    ProgramCache& cache_;
    bool is_default_;
    std::string trouble_;
};

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
    detail::backend_of(state.language).check_target(state, target);
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
        compiled =
            detail::backend_of(state.language).compile(state, target, names, keeps_debug_source);
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

/// Returns whether a program has this key now. A header that cannot be read any more changed too.
bool has_key(const std::string& key, const Program& program, CodeType target,
             const CompileRequest& request) {
    try {
        return program.cache_key(target, request.name_expressions, request.extra_digest) == key;
    } catch (const std::exception&) {
        return false;
    }
}

ObjectCode object_of(CodeType target, detail::Compiled compiled) {
    ObjectCode code = ObjectCode::from_bytes(target, compiled.code, std::move(compiled.name),
                                             std::move(compiled.symbols));
    detail::Access::state(code)->source_file = std::move(compiled.debug_source);
    return code;
}

ObjectCode compile_through(UsedCache& cache, const std::string& key, const Program& program,
                           CodeType target, const CompileRequest& request) {
    ProgramState& state = *detail::Access::state(program);
    const std::vector<std::string>& names = request.name_expressions;
    const bool has_names = !names.empty() && state.language == SourceType::Cxx;
    if (auto found = cache.load(key)) {
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
        cache.store(key, has_names ? detail::with_symbols(compiled.symbols, compiled.code)
                                   : compiled.code);
    }
    return object_of(target, std::move(compiled));
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

} // namespace

std::vector<std::string> ProgramOptions::to_nvrtc() const {
    return detail::nvrtc_flags(*this);
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
    const detail::ProgramBackend& backend = detail::backend_of(language);
    state_->backend = backend.find(state_->options);
    state_->compiler_options = backend.flags(state_->options, CodeType::Ptx);
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
        UsedCache cache(*request.cache, false);
        return compile_through(cache, key, *this, target, request);
    }
    if (const std::shared_ptr<ProgramCache> cache = default_program_cache()) {
        if (const auto key = key_if_cacheable(*this, target, request)) {
            UsedCache used(*cache, true);
            ObjectCode code = compile_through(used, *key, *this, target, request);
            if (!used.trouble().empty()) {
                detail::warn(WarningKind::Degraded,
                             "the default program cache failed and was not used: " +
                                 used.trouble());
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
    detail::backend_of(state.language).check_target(state, target);
    check_cacheable(state.language, state.options, extra_digest.has_value());
    std::vector<std::string> own; // libNVVM's flags depend on the target
    if (state.language == SourceType::Nvvm) {
        own = detail::backend_of(state.language).flags(state.options, target);
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
         .compiler_options = own.empty() ? state.compiler_options : own,
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
    if (state.handle == nullptr) {
        state.handle = detail::backend_of(state.language).start(state);
    }
    return state.handle.get();
}

std::string to_string(const Program& program) {
    return program.is_closed() ? "<Program closed>"
                               : "<Program " + std::string(to_string(program.language())) +
                                     " name=" + detail::quoted(program.options().name) + ">";
}

} // namespace cuprum

std::size_t std::hash<cuprum::Program>::operator()(const cuprum::Program& program) const noexcept {
    return std::hash<const void*>()(cuprum::detail::Access::state(program).get());
}
