// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvjitlink.hpp"
#include "program/code/image.hpp"
#include "program/link_session.hpp"
#include "program/options.hpp"
#include "support/readable_name.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

namespace cuprum {

namespace {

using nvjitlink::name_of;
using nvjitlink::table;

/// Links with nvJitLink.
class NvJitLinkSession final : public detail::LinkSession {
public:
    explicit NvJitLinkSession(std::vector<std::string> options);
    ~NvJitLinkSession() override;
    NvJitLinkSession(const NvJitLinkSession&) = delete;
    NvJitLinkSession& operator=(const NvJitLinkSession&) = delete;

    void add(const ObjectCode& code) override;
    [[nodiscard]] std::vector<std::byte> finish(CodeType target) override;
    [[nodiscard]] std::string error_log() const override;
    [[nodiscard]] std::string info_log() const override;

    [[nodiscard]] void* handle() const noexcept override { return handle_; }

private:
    template <typename... Params, typename... Args>
    void call(const libraries::Entry<nvJitLinkResult(Params...)>& entry, Args... args) const;
    /// Throws for a failure, with the log if there is one.
    [[noreturn]] void raise(nvJitLinkResult status, const char* call,
                            std::string_view what = {}) const;
    [[nodiscard]] std::string
    read_log(const libraries::Entry<nvJitLinkResult(nvJitLinkHandle, std::size_t*)>& size_of,
             const libraries::Entry<nvJitLinkResult(nvJitLinkHandle, char*)>& get) const;

    nvJitLinkHandle handle_ = nullptr;
    std::vector<std::string> options_;
};

nvJitLinkInputType input_type(CodeType type, std::span<const std::byte> code) {
    switch (type) {
    case CodeType::Ptx:
        return NVJITLINK_INPUT_PTX;
    case CodeType::Cubin:
        return detail::is_fatbin(code) ? NVJITLINK_INPUT_FATBIN : NVJITLINK_INPUT_CUBIN;
    case CodeType::LtoIr:
        return NVJITLINK_INPUT_LTOIR;
    case CodeType::Fatbin:
        return NVJITLINK_INPUT_FATBIN;
    case CodeType::Object:
        return NVJITLINK_INPUT_OBJECT;
    case CodeType::Library:
        return NVJITLINK_INPUT_LIBRARY;
    }
    return NVJITLINK_INPUT_ANY;
}

std::string advice_for(nvJitLinkResult status, const std::vector<std::string>& options,
                       std::string_view log) {
    if (log.find("__cudaCDP") != std::string_view::npos) {
        return "kernels that launch kernels need CUDA's libcudadevrt.a as one more input; on the "
               "emulated device, let its driver link instead (LinkerOptions backend \"driver\")";
    }
    if (std::string advice = detail::advice_about_undefined(log); !advice.empty()) {
        return advice;
    }
    const auto arch = std::find_if(options.begin(), options.end(), [](const std::string& option) {
        return option.starts_with("-arch=");
    });
    const std::string wanted = arch == options.end() ? "" : arch->substr(6);
    switch (status) {
    case NVJITLINK_ERROR_UNRECOGNIZED_OPTION:
        if (wanted.starts_with("sm_") || wanted.starts_with("compute_")) {
            return "nvJitLink " + nvjitlink::version() + " does not support one of the options";
        }
        [[fallthrough]];
    case NVJITLINK_ERROR_UNRECOGNIZED_ARCH:
    case NVJITLINK_ERROR_UNSUPPORTED_ARCH:
        return "LinkerOptions arch is \"" + wanted + "\", which nvJitLink " + nvjitlink::version() +
               " does not support; expected a name such as \"sm_90\"";
    case NVJITLINK_ERROR_LTO_NOT_ENABLED:
        return "LTO-IR needs LinkerOptions link_time_optimization";
    case NVJITLINK_ERROR_ARCH_MISMATCH:
        return "an input is for another architecture than \"" + wanted + "\"";
    case NVJITLINK_ERROR_MISSING_FATBIN:
        return "an input has no code for \"" + wanted + "\"";
    case NVJITLINK_ERROR_INTERNAL:
        if (const std::string version = nvjitlink::version();
            version.starts_with("12.") && version != "12.9") {
            return "nvJitLink " + version +
                   " writes the reason, such as an undefined symbol, to stderr; from 12.9 on it is "
                   "in the log";
        }
        return {};
    default:
        return {};
    }
}

NvJitLinkSession::NvJitLinkSession(std::vector<std::string> options)
    : options_(std::move(options)) {
    std::vector<const char*> arguments;
    arguments.reserve(options_.size());
    for (const std::string& option : options_) {
        arguments.push_back(option.c_str());
    }
    const auto& create = table().nvJitLinkCreate;
    const nvJitLinkResult status =
        create(&handle_, static_cast<std::uint32_t>(arguments.size()), arguments.data());
    if (status == NVJITLINK_SUCCESS) {
        return;
    }
    try {
        raise(status, create.name);
    } catch (...) {
        if (handle_ != nullptr) {
            static_cast<void>(table().nvJitLinkDestroy(&handle_));
        }
        throw;
    }
}

NvJitLinkSession::~NvJitLinkSession() {
    // NOTE: the only failure is "no such handle", which cannot happen: this object owns it.
    static_cast<void>(table().nvJitLinkDestroy(&handle_));
}

void NvJitLinkSession::add(const ObjectCode& code) {
    const std::span<const std::byte> bytes = code.code();
    const nvJitLinkInputType type = input_type(code.code_type(), bytes);
    // PTX is text: its size includes the final NUL.
    const std::size_t size = bytes.size() + (type == NVJITLINK_INPUT_PTX ? 1 : 0);
    const std::string& label = code.name().empty() ? code.path() : code.name();
    const std::string what =
        "\"" + label + "\", given as " + std::string(to_string(code.code_type()));
    detail::check_link_input(what, bytes);
    const auto& entry = table().nvJitLinkAddData;
    const nvJitLinkResult status = entry(handle_, type, bytes.data(), size, label.c_str());
    if (status != NVJITLINK_SUCCESS) {
        raise(status, entry.name, what);
    }
}

std::vector<std::byte> NvJitLinkSession::finish(CodeType target) {
    call(table().nvJitLinkComplete, handle_);
    const bool is_ptx = target == CodeType::Ptx;
    std::size_t bytes = 0;
    call(is_ptx ? table().nvJitLinkGetLinkedPtxSize : table().nvJitLinkGetLinkedCubinSize, handle_,
         &bytes);
    std::vector<std::byte> image(bytes);
    if (is_ptx) {
        call(table().nvJitLinkGetLinkedPtx, handle_, reinterpret_cast<char*>(image.data()));
        while (!image.empty() && image.back() == std::byte{0}) {
            image.pop_back();
        }
    } else {
        call(table().nvJitLinkGetLinkedCubin, handle_, static_cast<void*>(image.data()));
    }
    return image;
}

std::string NvJitLinkSession::error_log() const {
    return read_log(table().nvJitLinkGetErrorLogSize, table().nvJitLinkGetErrorLog);
}

std::string NvJitLinkSession::info_log() const {
    return read_log(table().nvJitLinkGetInfoLogSize, table().nvJitLinkGetInfoLog);
}

template <typename... Params, typename... Args>
void NvJitLinkSession::call(const libraries::Entry<nvJitLinkResult(Params...)>& entry,
                            Args... args) const {
    if (const nvJitLinkResult status = entry(args...); status != NVJITLINK_SUCCESS) {
        raise(status, entry.name);
    }
}

void NvJitLinkSession::raise(nvJitLinkResult status, const char* call,
                             std::string_view what) const {
    std::string log;
    if (handle_ != nullptr) {
        try {
            log = error_log();
        } catch (const LinkerError& error) {
            // Report the first failure, with a note in place of its log.
            log = std::string("(the log could not be read: ") + error.what() + ")";
        }
    }
    std::string advice(what);
    if (const std::string more = advice_for(status, options_, log); !more.empty()) {
        advice += (advice.empty() ? "" : ": ") + more;
    }
    throw LinkerError(ErrorDomain::NvJitLink, status, name_of(status), call, std::move(log),
                      options_, advice);
}

std::string NvJitLinkSession::read_log(
    const libraries::Entry<nvJitLinkResult(nvJitLinkHandle, std::size_t*)>& size_of,
    const libraries::Entry<nvJitLinkResult(nvJitLinkHandle, char*)>& get) const {
    const auto check = [this](nvJitLinkResult status, const char* call) {
        if (status != NVJITLINK_SUCCESS) {
            throw LinkerError(ErrorDomain::NvJitLink, status, name_of(status), call, {}, options_);
        }
    };
    std::size_t bytes = 0;
    check(size_of(handle_, &bytes), size_of.name);
    std::string text(bytes + 1, '\0');
    if (bytes != 0) {
        check(get(handle_, text.data()), get.name);
    }
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    return text;
}

} // namespace

std::string detail::advice_about_undefined(std::string_view log) {
    for (const std::string_view words : {"Undefined reference to '", "Unresolved extern function '",
                                         "Unresolved extern variable '"}) {
        const std::size_t found = log.find(words);
        if (found == std::string_view::npos) {
            continue;
        }
        const std::string_view rest = log.substr(found + words.size());
        return "no input defines \"" + readable_signature(rest.substr(0, rest.find('\''))) +
               "\"; give the Linker the code that does too, compiled with "
               "relocatable_device_code, or check the types of its parameters";
    }
    return {};
}

std::unique_ptr<detail::LinkSession> detail::start_nvjitlink(const LinkerOptions& options) {
    return std::make_unique<NvJitLinkSession>(nvjitlink_flags(options));
}

} // namespace cuprum
