// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/nvrtc.hpp"

#include "libraries/nvrtc.hpp"
#include "program/options.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace cuprum::nvrtc {

Compilation::Compilation(const std::string& source, std::string name,
                         std::vector<std::string> options, Headers headers)
    : source_(source), name_(std::move(name)), options_(std::move(options)), headers_(headers) {
    std::vector<const char*> texts;
    std::vector<const char*> names;
    for (const auto& [header, text] : headers_) {
        names.push_back(header.c_str());
        texts.push_back(text.c_str());
    }
    call(table().nvrtcCreateProgram, &program_, source_.c_str(), name_.c_str(),
         static_cast<int>(names.size()), texts.data(), names.data());
}

Compilation::~Compilation() {
    // NOTE: the only failure is "no such program", which cannot happen: this object owns it.
    static_cast<void>(table().nvrtcDestroyProgram(&program_));
}

void Compilation::add_name_expression(const std::string& expression) {
    call(table().nvrtcAddNameExpression, program_, expression.c_str());
}

void Compilation::cancel_when_changed(const std::atomic<unsigned>& counter) {
    cancellation_ = {.counter = &counter, .start = counter.load(std::memory_order_relaxed)};
    call(
        table().nvrtcSetFlowCallback, program_,
        [](void* payload, void*) -> int {
            const auto& [changing, start] = *static_cast<const Cancellation*>(payload);
            return changing->load(std::memory_order_relaxed) == start ? 0 : 1;
        },
        static_cast<void*>(&cancellation_));
}

std::string Compilation::run() {
    std::vector<const char*> arguments;
    arguments.reserve(options_.size());
    for (const std::string& option : options_) {
        arguments.push_back(option.c_str());
    }
    const auto& compile = table().nvrtcCompileProgram;
    const nvrtcResult status =
        compile(program_, static_cast<int>(arguments.size()), arguments.data());
    if (status == NVRTC_SUCCESS) {
        return log();
    }
    std::string text;
    try {
        text = log();
    } catch (const NVRTCError& error) {
        // Report the first failure, with a note in place of its log.
        text = std::string("(the log could not be read: ") + error.what() + ")";
    }
    std::string advice;
    if (status == NVRTC_ERROR_CANCELLED) {
        advice = "Program cancel() cancelled the compilation";
    } else {
        advice = advice_for(text, options_, headers_, name_, source_);
        if (advice.empty()) {
            advice = headline_of(first_error(text));
        }
        std::vector<std::pair<std::string, std::string>> texts(headers_.begin(), headers_.end());
        texts.emplace_back(name_, source_);
        const std::string line = offending_line(text, texts);
        advice += (advice.empty() || line.empty() ? "" : "; ") + line;
    }
    raise(status, compile.name, std::move(text), options_, advice);
}

std::pair<PchStatus, std::string> Compilation::pch_status() const {
    const nvrtcResult status = table().nvrtcGetPCHCreateStatus(program_);
    switch (status) {
    case NVRTC_SUCCESS:
        return {PchStatus::Created, {}};
    case NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED:
        return {PchStatus::NotAttempted, {}};
    default:
        return {PchStatus::Failed, name_of(status)};
    }
}

bool Compilation::grow_pch_heap() const {
    if (table().nvrtcGetPCHCreateStatus(program_) != NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED) {
        return false;
    }
    std::size_t bytes = 0;
    call(table().nvrtcGetPCHHeapSizeRequired, program_, &bytes);
    call(table().nvrtcSetPCHHeapSize, bytes);
    return true;
}

std::string Compilation::lowered_name(const std::string& expression) const {
    const char* name = nullptr;
    call(table().nvrtcGetLoweredName, program_, expression.c_str(), &name);
    return name;
}

std::vector<std::byte> Compilation::ptx() const {
    std::vector<std::byte> code = read(table().nvrtcGetPTXSize, table().nvrtcGetPTX);
    while (!code.empty() && code.back() == std::byte{0}) {
        code.pop_back();
    }
    return code;
}

std::vector<std::byte> Compilation::cubin() const {
    return read(table().nvrtcGetCUBINSize, table().nvrtcGetCUBIN);
}

std::vector<std::byte> Compilation::ltoir() const {
    return read(table().nvrtcGetLTOIRSize, table().nvrtcGetLTOIR);
}

template <typename... Params, typename... Args>
void Compilation::call(const libraries::Entry<nvrtcResult(Params...)>& entry, Args... args) const {
    if (const nvrtcResult status = entry(args...); status != NVRTC_SUCCESS) {
        raise(status, entry.name, {}, options_);
    }
}

std::vector<std::byte>
Compilation::read(const libraries::Entry<nvrtcResult(nvrtcProgram, std::size_t*)>& size_of,
                  const libraries::Entry<nvrtcResult(nvrtcProgram, char*)>& get) const {
    std::size_t size = 0;
    call(size_of, program_, &size);
    std::vector<std::byte> bytes(size);
    if (size != 0) {
        call(get, program_, reinterpret_cast<char*>(bytes.data()));
    }
    return bytes;
}

std::string Compilation::log() const {
    const std::vector<std::byte> bytes =
        read(table().nvrtcGetProgramLogSize, table().nvrtcGetProgramLog);
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    return text;
}

} // namespace cuprum::nvrtc
