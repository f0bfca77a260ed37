// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/program.hpp>

#include "driver/call.hpp"
#include "fatbin.hpp"
#include "nvrtc/compilation.hpp"
#include "state/handle.hpp"
#include "state/program_state.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <array>
#include <stdexcept>
#include <string_view>

namespace cuprum {

namespace {

constexpr const char* LTO_FLAG = "--dlink-time-opt";

void check_target(CodeType target, const detail::ProgramState& state);
[[nodiscard]] std::vector<std::string> options_for(CodeType target,
                                                   const detail::ProgramState& state);
[[nodiscard]] std::string joined(const std::vector<std::string>& words);
[[nodiscard]] std::vector<std::byte> result_of(const nvrtc::Compilation& compilation,
                                               CodeType target, const std::string& arch);

} // namespace

Program::Program(std::string_view source, ProgramOptions options)
    : state_(std::make_shared<detail::ProgramState>()) {
    if (const std::size_t nul = source.find('\0'); nul != std::string_view::npos) {
        throw std::invalid_argument("source has a NUL character at position " +
                                    std::to_string(nul) + "; the compiler would not see the rest");
    }
    if (options.name.empty() || options.name.find('\0') != std::string::npos) {
        throw std::invalid_argument("ProgramOptions name is \"" + options.name +
                                    "\"; expected a text that is not empty and has no NUL "
                                    "character: it is what the log calls the source");
    }
    static_cast<void>(nvrtc::table().nvrtcGetErrorString(NVRTC_SUCCESS)); // finds NVRTC, or raises
    state_->source = source;
    state_->options = std::move(options);
    // Settled here, so that a program compiles the same whatever device becomes current later.
    const std::optional<std::string>& wanted = state_->options.arch;
    state_->arch = wanted.has_value() ? *wanted : "sm_" + Device().arch();
    state_->options.arch = state_->arch;
    state_->compiler_options = state_->options.to_nvrtc();
}

ObjectCode Program::compile(CodeType target, std::span<const std::string> name_expressions) const {
    detail::ProgramState& state = detail::open(state_, "Program");
    check_target(target, state);
    nvrtc::Compilation compilation(state.source, state.options.name, options_for(target, state));
    for (const std::string& expression : name_expressions) {
        compilation.add_name_expression(expression);
    }
    const auto keep_log = [&](std::string log) {
        const std::lock_guard lock(state.mutex);
        state.log = std::move(log);
    };
    try {
        keep_log(compilation.run());
    } catch (const NVRTCError& error) {
        keep_log(error.log());
        throw;
    }
    SymbolMapping symbols;
    for (const std::string& expression : name_expressions) {
        symbols.emplace(expression, compilation.lowered_name(expression));
    }
    std::vector<std::byte> code = result_of(compilation, target, state.arch);
    if (code.empty()) {
        throw std::invalid_argument(
            "target \"" + std::string(to_string(target)) +
            "\" cannot be had with these options: " + joined(state.compiler_options));
    }
    return ObjectCode::from_bytes(target, std::move(code), state.options.name, std::move(symbols));
}

std::string Program::log() const {
    detail::ProgramState& state = detail::open(state_, "Program");
    const std::lock_guard lock(state.mutex);
    return state.log;
}

const ProgramOptions& Program::options() const {
    return detail::open(state_, "Program").options;
}

std::vector<std::string> Program::compiler_options() const {
    return detail::open(state_, "Program").compiler_options;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void check_target(CodeType target, const detail::ProgramState& state) {
    const std::string& arch = state.arch;
    const bool is_lto = state.options.link_time_optimization.value_or(false);
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
        if (is_lto) {
            throw std::invalid_argument(
                "target \"" + std::string(to_string(target)) +
                "\" cannot be had with link_time_optimization, which gives \"ltoir\" alone");
        }
        return;
    default:
        throw std::invalid_argument("target \"" + std::string(to_string(target)) +
                                    "\" is not one a program compiles to; expected \"ptx\", "
                                    "\"cubin\" or \"ltoir\"");
    }
}

std::vector<std::string> options_for(CodeType target, const detail::ProgramState& state) {
    std::vector<std::string> options = state.compiler_options;
    if (target == CodeType::LtoIr && !state.options.link_time_optimization.value_or(false)) {
        options.emplace_back(LTO_FLAG);
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

bool is_device_emulated() {
    try {
        return driver::is_emulated();
    } catch (const LibraryNotFoundError&) {
        return false; // compiling for elsewhere needs no driver
    } catch (const CUDAError&) {
        return false; // nor a device
    }
}

std::vector<std::byte> result_of(const nvrtc::Compilation& compilation, CodeType target,
                                 const std::string& arch) {
    if (target == CodeType::Ptx) {
        return compilation.ptx();
    }
    if (target == CodeType::LtoIr) {
        return compilation.ltoir();
    }
    std::vector<std::byte> cubin = compilation.cubin();
    if (cubin.empty() || !is_device_emulated()) {
        return cubin;
    }
    // A CPU cannot run a cubin: the PTX goes with it. GPUs take the cubin.
    const std::vector<std::byte> ptx = compilation.ptx();
    using Kind = detail::FatbinImage::Kind;
    const std::array images{
        detail::FatbinImage{.kind = Kind::Cubin, .arch = arch, .code = cubin},
        detail::FatbinImage{.kind = Kind::Ptx, .arch = arch, .code = ptx},
    };
    return detail::write_fatbin(images);
}

} // namespace

} // namespace cuprum
