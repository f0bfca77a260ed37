// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/nvrtc/compilation.hpp"

#include "libraries/nvrtc/call.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace cuprum::nvrtc {

namespace {

[[nodiscard]] std::string missing_header_advice(std::string_view header,
                                                const std::vector<std::string>& options,
                                                Compilation::Headers headers,
                                                std::string_view name);
[[nodiscard]] std::string architecture_advice(const std::vector<std::string>& options);
[[nodiscard]] std::optional<std::string_view> missing_header(std::string_view log);
[[nodiscard]] std::optional<std::string_view> unknown_option(std::string_view log);
[[nodiscard]] std::string newer_option_advice(std::string_view option);
[[nodiscard]] std::string loaded_version();
[[nodiscard]] std::string value_of(const std::vector<std::string>& options, std::string_view key);

} // namespace

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
        advice = advice_for(text, options_, headers_, name_);
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

std::string offending_line(const std::string& log, Compilation::Headers texts) {
    // "x.cu(3): error: ..."; warnings have the same form and do not count.
    for (std::size_t at = log.find("): "); at != std::string::npos; at = log.find("): ", at + 1)) {
        const std::string_view rest = std::string_view(log).substr(at + 3);
        const std::size_t open = log.rfind('(', at);
        if (open == std::string::npos ||
            !(rest.starts_with("error") || rest.starts_with("catastrophic error"))) {
            continue;
        }
        const std::size_t begin = log.rfind('\n', open) + 1; // npos + 1 is 0
        const std::string_view name = std::string_view(log).substr(begin, open - begin);
        std::size_t number = 0;
        const char* const digits = log.data() + open + 1;
        std::from_chars(digits, log.data() + at, number);
        for (const auto& [known, text] : texts) {
            if (known != name || number == 0) {
                continue;
            }
            std::string_view line = text;
            for (std::size_t i = 1; i < number; ++i) {
                const std::size_t end = line.find('\n');
                if (end == std::string_view::npos) {
                    return {}; // a #line directive changed the numbers
                }
                line.remove_prefix(end + 1);
            }
            line = line.substr(0, line.find('\n'));
            line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
            return "line " + std::to_string(number) + " of \"" + known + "\": " + std::string(line);
        }
        return {};
    }
    return {};
}

std::string advice_for(const std::string& log, const std::vector<std::string>& options,
                       Compilation::Headers headers, std::string_view name) {
    if (const auto header = missing_header(log)) {
        // The log quotes the line: names in angle brackets are not searched beside the source.
        const bool is_angled = log.find("<" + std::string(*header) + ">") != std::string::npos;
        return missing_header_advice(*header, options, headers, is_angled ? "" : name);
    }
    if (log.find("invalid value for --gpu-architecture") != std::string::npos) {
        return architecture_advice(options);
    }
    if (const auto option = unknown_option(log)) {
        return newer_option_advice(*option);
    }
    return {};
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::string missing_header_advice(std::string_view header, const std::vector<std::string>& options,
                                  Compilation::Headers headers, std::string_view name) {
    static constexpr std::string_view INCLUDE = "--include-path=";
    std::string searched;
    const bool is_beside_source =
        std::find(options.begin(), options.end(), "--no-source-include") == options.end();
    if (is_beside_source && !name.empty()) {
        std::error_code ignored;
        const auto folder = std::filesystem::absolute(name, ignored).parent_path();
        searched = folder.string();
    }
    for (const std::string& option : options) {
        if (option.starts_with(INCLUDE)) {
            searched += searched.empty() ? "" : ", ";
            searched += option.substr(INCLUDE.size());
        }
    }
    std::string advice = "header \"";
    advice.append(header);
    advice += "\" was not found; ";
    advice += searched.empty() ? "no directories were searched"
                               : "these directories were searched: " + searched;
    if (!headers.empty()) {
        advice += "; headers in memory:";
        for (const auto& known : headers) {
            advice += " \"" + known.first + "\"";
        }
    }
    advice += "; add the directory that holds it to ProgramOptions include_path, or its text to "
              "ProgramOptions headers";
    return advice;
}

std::string architecture_advice(const std::vector<std::string>& options) {
    std::string advice =
        "this NVRTC does not support architecture \"" + value_of(options, "-arch=") + "\"";
    try {
        advice += "; it supports";
        for (const char* separator = " "; const int architecture : supported_architectures()) {
            advice += separator + std::to_string(architecture);
            separator = ", ";
        }
    } catch (const NVRTCError&) {
        // NOTE: an error is being reported already; do not replace it.
        return advice;
    }
    if (const std::string version = loaded_version(); !version.empty()) {
        advice += " (version " + version + ")";
    }
    return advice + "; set ProgramOptions arch to one of these, or install a newer NVRTC";
}

/// Returns the version of the loaded library, such as "12.4"; empty if it does not tell.
std::string loaded_version() {
    int major = 0;
    int minor = 0;
    if (table().nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) {
        return {};
    }
    return std::to_string(major) + "." + std::to_string(minor);
}

/// Returns the advice for an option that the loaded NVRTC does not know.
std::string newer_option_advice(std::string_view option) {
    struct Since {
        std::string_view option;
        std::string_view version;
    };

    // Measured with the libraries of CUDA 12.4 to 13.4. Longer names come first.
    static constexpr Since SINCE[] = {{"--fdevice-time-trace", "12.6"},
                                      {"--device-stack-protector", "12.6"},
                                      {"--create-pch", "12.8"},
                                      {"--use-pch", "12.8"},
                                      {"--pch", "12.8"},
                                      {"--instantiate-templates-in-pch", "12.8"},
                                      {"--frandom-seed", "12.9"},
                                      {"--no-cache", "12.9"},
                                      {"--Ofast-compile", "12.9"}};
    const std::string version = loaded_version();
    std::string advice = "NVRTC " + version + (version.empty() ? "" : " ") + "does not know ";
    advice.append(option);
    for (const Since& each : SINCE) {
        if (option.starts_with(each.option)) {
            return advice + ", which needs CUDA " + std::string(each.version) +
                   "; update the package nvidia-cuda-nvrtc or the toolkit, or leave the option out";
        }
    }
    return advice + "; leave it out, or use a newer NVRTC if the option is new";
}

std::optional<std::string_view> unknown_option(std::string_view log) {
    static constexpr std::string_view WORDS = "unrecognized option ";
    const std::size_t found = log.find(WORDS);
    if (found == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view rest = log.substr(found + WORDS.size());
    return rest.substr(0, rest.find_first_of("= \n")); // without its value
}

std::optional<std::string_view> missing_header(std::string_view log) {
    // NVRTC writes "cannot open" or "could not open".
    static constexpr std::string_view WORDS = "open source file \"";
    const std::size_t found = log.find(WORDS);
    if (found == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view rest = log.substr(found + WORDS.size());
    return rest.substr(0, rest.find('"'));
}

std::string value_of(const std::vector<std::string>& options, std::string_view key) {
    for (const std::string& option : options) {
        if (option.starts_with(key)) {
            return option.substr(key.size());
        }
    }
    return {};
}

} // namespace

} // namespace cuprum::nvrtc
