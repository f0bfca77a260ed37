// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/linker.hpp>

#include "device/device_state.hpp"
#include "driver/handle.hpp"
#include "libraries/nvjitlink.hpp"
#include "program/code/image.hpp"
#include "program/code/packing.hpp"
#include "program/link_session.hpp"
#include "program/options.hpp"
#include "program/progress.hpp"
#include "support/locks.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace cuprum {

namespace detail {

/// What a linker links, and its logs.
struct LinkerState {
    LinkerOptions options;
    std::vector<ObjectCode> codes;
    CompilerBackend backend = CompilerBackend::NvJitLink;

    std::mutex mutex;                     // guards what follows
    std::unique_ptr<LinkSession> session; // with the codes added
    bool is_used = false;                 // a session links once
    CodeType target = CodeType::Cubin;    // of the session
    std::string error_log;                // of the last link
    std::string info_log;
};

} // namespace detail

namespace {

using detail::LinkerState;

/// Returns the PTX of code that is PTX or a fat binary with PTX in it; empty if it has none.
std::string ptx_in(const ObjectCode& code) {
    switch (code.code_type()) {
    case CodeType::Ptx:
        return std::string(code.text());
    case CodeType::Cubin:
    case CodeType::Fatbin:
        return std::string(detail::ptx_in_fatbin(code.code()));
    default:
        return {};
    }
}

/// The linker to use, and a warning for the user, empty if there is none.
struct Backend {
    CompilerBackend linker;
    std::string warning;
};

Backend find_backend() {
    std::string reason;
    try {
        static_cast<void>(nvjitlink::version());
        return {CompilerBackend::NvJitLink, {}};
    } catch (const LibraryNotFoundError& error) {
        reason = error.what();
    }
    return {CompilerBackend::Driver,
            "the driver links instead of nvJitLink; it supports neither LTO-IR nor all options: " +
                reason};
}

bool is_all_lto(const LinkerState& state) {
    return std::all_of(state.codes.begin(), state.codes.end(),
                       [](const ObjectCode& code) { return code.code_type() == CodeType::LtoIr; });
}

bool has_lto(const LinkerState& state) {
    return std::any_of(state.codes.begin(), state.codes.end(),
                       [](const ObjectCode& code) { return code.code_type() == CodeType::LtoIr; });
}

std::unique_ptr<detail::LinkSession> start(const LinkerState& state, CodeType target) {
    LinkerOptions options = state.options;
    if (state.backend == CompilerBackend::NvJitLink) {
        options.ptx = target == CodeType::Ptx;
        // Linking LTO-IR needs the option, and so does linking to PTX.
        if (target == CodeType::Ptx || has_lto(state)) {
            options.link_time_optimization = true;
        }
    }
    auto session = state.backend == CompilerBackend::NvJitLink ? detail::start_nvjitlink(options)
                                                               : detail::start_driver_link(options);
    for (const ObjectCode& code : state.codes) {
        session->add(code);
    }
    return session;
}

ObjectCode ptx_object(std::span<const std::byte> text, const std::string& name) {
    return ObjectCode::from_bytes(CodeType::Ptx, text, name);
}

/// Links the inputs that are LTO-IR to PTX. Functions that only other inputs call are removed.
ObjectCode lto_as_ptx(const LinkerState& state) {
    LinkerOptions options = state.options;
    options.ptx = true;
    options.link_time_optimization = true;
    const auto session = detail::start_nvjitlink(options);
    for (const ObjectCode& code : state.codes) {
        if (code.code_type() == CodeType::LtoIr) {
            session->add(code);
        }
    }
    return ptx_object(session->finish(CodeType::Ptx), "LTO-IR of " + state.options.name);
}

/// Links the PTX of the inputs with the emulated device's own linker.
std::vector<std::byte> emulated_link(const LinkerState& state) {
    std::vector<ObjectCode> parts;
    for (const ObjectCode& code : state.codes) {
        if (code.code_type() == CodeType::LtoIr) {
            continue;
        }
        const std::string text = ptx_in(code);
        // The device reads compressed PTX, or reports what is missing.
        parts.push_back(text.empty() ? code
                                     : ptx_object(std::as_bytes(std::span(text)), code.name()));
    }
    if (has_lto(state)) {
        parts.push_back(lto_as_ptx(state));
    }
    const auto session = detail::start_emulated_link(state.options);
    for (const ObjectCode& part : parts) {
        session->add(part);
    }
    return session->finish(CodeType::Cubin);
}

/// Returns an image that the emulated device loads too. If that is not possible, warns why.
std::vector<std::byte> loadable(LinkerState& state, std::vector<std::byte> cubin) {
    if (state.backend == CompilerBackend::Driver || detail::is_fatbin(cubin)) {
        return cubin; // the emulated device linked it, or a stand-in of nvJitLink that asks it
    }
    std::optional<ObjectCode> ptx; // of a single input
    try {
        if (is_all_lto(state)) {
            ptx = lto_as_ptx(state);
        } else if (state.codes.size() == 1) {
            if (const std::string text = ptx_in(state.codes.front()); !text.empty()) {
                ptx = ptx_object(std::as_bytes(std::span(text)), state.codes.front().name());
            }
        }
        if (ptx.has_value() && !detail::changes_ptx(state.options)) {
            return detail::with_ptx(state.options.arch.value_or(""), cubin, ptx->code());
        }
        const std::vector<std::byte> linked = emulated_link(state);
        if (!ptx.has_value()) {
            return linked;
        }
        return detail::with_ptx(state.options.arch.value_or(""), cubin,
                                std::as_bytes(std::span(detail::ptx_in_fatbin(linked))));
    } catch (const LinkerError& error) {
        detail::warn(
            WarningKind::Degraded,
            "the linked cubin runs on GPUs only: the emulated device runs PTX and cannot link "
            "these inputs (" +
                error.name() + " from " + error.call() + ")" +
                (error.log().empty() ? "" : ": " + error.log()) +
                (has_lto(state)
                     ? "; start the program with `cuprum run`, which links LTO-IR with PTX"
                     : "; link PTX, LTO-IR or cubins that Program made for the emulated device"));
    } catch (const std::invalid_argument& error) {
        detail::warn(WarningKind::Degraded,
                     std::string("the linked cubin runs on GPUs only: ") + error.what());
    }
    return cubin;
}

std::vector<std::byte> link_locked(LinkerState& state, CodeType target) {
    if (state.is_used || state.target != target) {
        state.session = start(state, target);
        state.target = target;
    }
    state.is_used = true;
    std::vector<std::byte> image;
    try {
        image = state.session->finish(target);
    } catch (const LinkerError& error) {
        state.error_log = error.log();
        state.info_log = state.session->info_log();
        throw;
    }
    state.error_log = state.session->error_log();
    state.info_log = state.session->info_log();
    if (target == CodeType::Cubin && driver::is_device_emulated()) {
        image = loadable(state, std::move(image));
    }
    if (target == CodeType::Cubin) {
        image = detail::with_declarations_of(std::move(image), state.codes);
    }
    return image;
}

} // namespace

std::vector<std::string> LinkerOptions::to_nvjitlink() const {
    return detail::nvjitlink_flags(*this);
}

void LinkerOptions::check_honoured(CompilerBackend linker) const {
    if (linker == CompilerBackend::Driver) { // nvJitLink supports all
        detail::check_driver_link_options(*this);
    }
}

Linker::Linker(std::span<const ObjectCode> codes, LinkerOptions options)
    : state_(std::make_shared<LinkerState>()) {
    if (codes.empty()) {
        throw std::invalid_argument("codes is empty; expected at least one object code to link");
    }
    state_->codes.assign(codes.begin(), codes.end());
    state_->options = std::move(options);
    LinkerOptions& settled = state_->options;
    if (!settled.arch.has_value()) {
        settled.arch = "sm_" + Device().arch();
    }
    if (settled.backend.has_value() && *settled.backend != CompilerBackend::NvJitLink &&
        *settled.backend != CompilerBackend::Driver) {
        throw std::invalid_argument("LinkerOptions backend is \"" +
                                    std::string(to_string(*settled.backend)) +
                                    "\"; expected \"nvJitLink\" or \"driver\"");
    }
    state_->backend = settled.backend.has_value() ? *settled.backend : which_backend();
    state_->target = settled.ptx.value_or(false) ? CodeType::Ptx : CodeType::Cubin;
    state_->session = start(*state_, state_->target);
}

ObjectCode Linker::link(CodeType target) const {
    LinkerState& state = detail::open(state_, "Linker");
    if (target != CodeType::Cubin && target != CodeType::Ptx) {
        throw std::invalid_argument("target \"" + std::string(to_string(target)) +
                                    "\" is not supported by a linker; expected \"cubin\" or "
                                    "\"ptx\"");
    }
    const std::vector<std::byte> image = [&] {
        const detail::QuietLock lock(state.mutex);
        const detail::CompileProgress progress("linking " + state.options.name + " for " +
                                               state.options.arch.value_or("the device"));
        return link_locked(state, target);
    }();
    return ObjectCode::from_bytes(target, image, state.options.name);
}

std::string Linker::error_log() const {
    LinkerState& state = detail::open(state_, "Linker");
    const std::lock_guard lock(state.mutex);
    return state.is_used ? state.error_log : state.session->error_log();
}

std::string Linker::info_log() const {
    LinkerState& state = detail::open(state_, "Linker");
    const std::lock_guard lock(state.mutex);
    return state.is_used ? state.info_log : state.session->info_log();
}

CompilerBackend Linker::backend() const {
    return detail::open(state_, "Linker").backend;
}

const LinkerOptions& Linker::options() const {
    return detail::open(state_, "Linker").options;
}

std::vector<std::string> Linker::linker_options() const {
    const LinkerState& state = detail::open(state_, "Linker");
    return state.backend == CompilerBackend::NvJitLink ? detail::nvjitlink_flags(state.options)
                                                       : std::vector<std::string>();
}

void* Linker::handle() const {
    LinkerState& state = detail::open(state_, "Linker");
    const std::lock_guard lock(state.mutex);
    return state.session->handle();
}

CompilerBackend Linker::which_backend() {
    static const Backend found = find_backend();
    // NOTE: warn only after the search, on which other threads wait: a warning may wait for them.
    static constinit std::atomic<bool> has_warned{false};
    if (!found.warning.empty() && !has_warned.exchange(true, std::memory_order_relaxed)) {
        detail::warn(WarningKind::Degraded, found.warning);
    }
    return found.linker;
}

std::string to_string(const Linker& linker) {
    return linker.is_closed() ? "<Linker closed>"
                              : "<Linker " + std::string(to_string(linker.backend())) +
                                    " name=" + detail::quoted(linker.options().name) + ">";
}

} // namespace cuprum

std::size_t std::hash<cuprum::Linker>::operator()(const cuprum::Linker& linker) const noexcept {
    return std::hash<const void*>()(cuprum::detail::Access::state(linker).get());
}
