// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "libraries/nvrtc.hpp"
#include "program/nvrtc.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace cuprum::nvrtc {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::string_view PRINTING =
    "device code has no streams: print with printf, which is built in, as in printf(\"%d\\n\", x)";

/// Words of NVRTC's log, and what to do about them. The first match counts.
constexpr std::array MISTAKES{
    Pair{"host functions are not allowed in JIT mode",
         "a Program holds device code only: mark functions __device__ or __global__, leave out "
         "main() and other host code, or set ProgramOptions device_as_default_execution_space"},
    Pair{
        "host variables are not allowed in JIT mode",
        "a Program holds device code only: mark variables __device__, __constant__ or __managed__, "
        "or set ProgramOptions device_as_default_execution_space"},
    Pair{"namespace \"std\" has no member \"cout\"", PRINTING},
    Pair{"namespace \"std\" has no member \"cerr\"", PRINTING},
    Pair{"identifier \"cout\" is undefined", PRINTING},
    Pair{"identifier \"cerr\" is undefined", PRINTING},
    Pair{"namespace \"std\" has no member",
         "NVRTC has no standard library; use cuda::std and the headers <cuda/std/...> of libcu++"},
    Pair{"uses too much shared data",
         "kernels can declare 49152 bytes of shared memory; for more, up to the device's "
         "max_shared_memory_per_block_optin, declare the array extern __shared__ without a size "
         "and give its bytes as LaunchConfig shmem_size"},
    Pair{"= cooperative_groups;", "include <cooperative_groups.h>"},
    Pair{"namespace nvcuda;", "include <mma.h>"},
};

/// Names that people expect to be built in, and what to include.
constexpr std::array NAMES{
    Pair{"half", "<cuda_fp16.h>"},
    Pair{"half2", "<cuda_fp16.h>"},
    Pair{"__half", "<cuda_fp16.h>"},
    Pair{"__half2", "<cuda_fp16.h>"},
    Pair{"nv_bfloat16", "<cuda_bf16.h>"},
    Pair{"__nv_bfloat16", "<cuda_bf16.h>"},
    Pair{"__nv_bfloat162", "<cuda_bf16.h>"},
    Pair{"curandState", "<curand_kernel.h>"},
    Pair{"cooperative_groups", "<cooperative_groups.h>"},
    Pair{"nvcuda", "<mma.h>"},
    Pair{"INFINITY", "<cuda/std/cmath>"},
    Pair{"NAN", "<cuda/std/cmath>"},
    Pair{"INT_MAX", "<cuda/std/climits>"},
    Pair{"INT_MIN", "<cuda/std/climits>"},
    Pair{"UINT_MAX", "<cuda/std/climits>"},
    Pair{"FLT_MAX", "<cuda/std/limits> and use cuda::std::numeric_limits<float>"},
    Pair{"FLT_MIN", "<cuda/std/limits> and use cuda::std::numeric_limits<float>"},
    Pair{"FLT_EPSILON", "<cuda/std/limits> and use cuda::std::numeric_limits<float>"},
    Pair{"DBL_MAX", "<cuda/std/limits> and use cuda::std::numeric_limits<double>"},
    Pair{"M_PI", "<cuda/std/numbers> and use cuda::std::numbers::pi_v<double>"},
};

// Headers of the standard library, those of C under their C++ names. libcu++ has these too:
constexpr std::array IN_LIBCUDACXX{
    "array",    "atomic",     "barrier",          "bit",      "chrono",  "complex",
    "concepts", "functional", "initializer_list", "iterator", "latch",   "limits",
    "optional", "ratio",      "semaphore",        "span",     "tuple",   "type_traits",
    "utility",  "variant",    "cstdint",          "cstddef",  "climits", "cfloat",
};
// NVRTC declares what these have:
constexpr std::array BUILT_IN{"cstdio", "cassert", "cstring", "cstdlib", "cmath", "ctime"};
// These have no counterpart on devices, or only in recent versions of libcu++:
constexpr std::array NOT_FOR_DEVICES{
    "algorithm",   "deque",   "exception",     "filesystem",    "fstream",
    "future",      "iomanip", "iostream",      "list",          "map",
    "memory",      "mutex",   "new",           "numeric",       "queue",
    "random",      "set",     "sstream",       "stdexcept",     "string",
    "string_view", "thread",  "unordered_map", "unordered_set", "vector",
};

bool is_file_name(std::string_view source) {
    return source.find_first_of(" \t\n;{") == std::string_view::npos &&
           (source.ends_with(".cu") || source.ends_with(".cuh") || source.ends_with(".cpp") ||
            source.ends_with(".h") || source.ends_with(".hpp"));
}

/// Returns what to do about a missing header of the standard library; empty for other headers.
std::string standard_header_advice(const std::string& log, std::string_view header,
                                   std::string_view name) {
    std::string known(header);
    if (known.ends_with(".h")) { // "stdint.h" is "cstdint"
        known = "c" + known.substr(0, known.size() - 2);
    }
    const auto is_in = [&](const auto& names) {
        return std::find(names.begin(), names.end(), known) != names.end();
    };
    const bool has_twin = is_in(IN_LIBCUDACXX);
    if (!has_twin && !is_in(BUILT_IN) && !is_in(NOT_FOR_DEVICES)) {
        return {};
    }
    // "x.cu(1): catastrophic error: ..."
    const std::size_t found = log.find("open source file \"");
    const std::size_t begin = log.rfind('\n', found) + 1; // npos + 1 is 0
    const std::string_view place =
        std::string_view(log).substr(begin, log.find('(', begin) - begin);
    std::string advice = "header \"" + std::string(header) + "\"";
    if (!name.empty() && place != name) {
        return advice + ", which " + std::string(place) +
               " includes, was not found: NVRTC has no standard library; leave out the header that "
               "needs it, or pass a header of that name in ProgramOptions headers";
    }
    advice += " was not found: NVRTC has no standard library; ";
    if (known == "cfloat") {
        return advice + "include <cuda/std/limits> and use cuda::std::numeric_limits";
    }
    if (has_twin) {
        return advice + "include <cuda/std/" + known + "> instead";
    }
    if (is_in(BUILT_IN)) {
        return advice +
               "leave the header out: printf, assert, memcpy, malloc, clock and the "
               "functions of <math.h> are built in" +
               (known == "cmath" ? ", and <cuda/std/cmath> has those of cuda::std" : "");
    }
    if (known == "iostream") {
        return advice + "leave the header out; " + std::string(PRINTING);
    }
    return advice + "leave the header and the host code that needs it out of the source";
}

/// Returns the header that declares a name; empty if it is not among those that people forget.
std::string_view header_of(std::string_view name) {
    const bool is_integer =
        name.ends_with("_t") && (name.starts_with("int") || name.starts_with("uint"));
    if (is_integer) {
        return "<cuda/std/cstdint>";
    }
    if (name.starts_with("__nv_fp8")) {
        return "<cuda_fp8.h>";
    }
    const auto* const found = std::find_if(NAMES.begin(), NAMES.end(),
                                           [&](const Pair& pair) { return pair.first == name; });
    return found == NAMES.end() ? std::string_view() : found->second;
}

/// Returns what to include for the first undefined name that a header of CUDA or libcu++ declares.
std::string undefined_name_advice(std::string_view log) {
    static constexpr std::string_view WORDS = "\" is undefined"; // identifier "half" is undefined
    for (std::size_t end = log.find(WORDS); end != std::string_view::npos;
         end = log.find(WORDS, end + 1)) {
        const std::size_t begin = log.rfind('"', end - 1) + 1; // npos + 1 is 0
        const std::string_view name = log.substr(begin, end - begin);
        if (const std::string_view header = header_of(name); !header.empty()) {
            return "\"" + std::string(name) + "\" is not built in; include " + std::string(header);
        }
    }
    return {};
}

/// Returns what stands in a log between some words and the next of the characters `ends`; nothing
/// if the words are not there.
std::optional<std::string_view> text_between(std::string_view log, std::string_view words,
                                             std::string_view ends) {
    const std::size_t found = log.find(words);
    if (found == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view rest = log.substr(found + words.size());
    return rest.substr(0, rest.find_first_of(ends));
}

/// Returns the name expression that NVRTC complains about, if that is what the log is about.
std::optional<std::string_view> name_expression(std::string_view log) {
    return text_between(log, "#pragma nv_mangled_name ", "\n");
}

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

std::string value_of(const std::vector<std::string>& options, std::string_view key) {
    for (const std::string& option : options) {
        if (option.starts_with(key)) {
            return option.substr(key.size());
        }
    }
    return {};
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
    return text_between(log, "unrecognized option ", "= \n"); // without its value
}

std::optional<std::string_view> missing_header(std::string_view log) {
    // NVRTC writes "cannot open" or "could not open".
    return text_between(log, "open source file \"", "\"");
}

} // namespace

std::string_view first_error(std::string_view log) {
    const std::size_t found = log.find("error: ");
    if (found == std::string_view::npos) {
        return {};
    }
    const std::size_t begin = log.rfind('\n', found) + 1; // npos + 1 is 0
    // The quoted line and notes are indented, and the next message is not.
    std::size_t end = log.find('\n', found);
    while (end != std::string_view::npos && end + 1 < log.size() && log[end + 1] == ' ') {
        end = log.find('\n', end + 1);
    }
    return log.substr(begin, end == std::string_view::npos ? end : end - begin);
}

std::string headline_of(std::string_view error) {
    static constexpr std::string_view WORD = "error: ";
    const std::size_t found = error.find(WORD);
    if (found == std::string_view::npos) {
        return {};
    }
    const std::string_view message = error.substr(found + WORD.size());
    return std::string(message.substr(0, message.find('\n')));
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

std::string advice_for(const std::string& whole_log, const std::vector<std::string>& options,
                       Compilation::Headers headers, std::string_view name,
                       std::string_view source) {
    // Later errors are often consequences of the first one.
    const std::string_view first = first_error(whole_log);
    const std::string log(first.empty() ? whole_log : first);
    if (is_file_name(source)) {
        return "the source is \"" + std::string(source) +
               "\", which looks like the name of a file; pass the text of the file";
    }
    if (const auto header = missing_header(log)) {
        if (const std::string advice = standard_header_advice(log, *header, name);
            !advice.empty()) {
            return advice;
        }
        // The log quotes the line: names in angle brackets are not searched beside the source.
        const bool is_angled = log.find("<" + std::string(*header) + ">") != std::string::npos;
        return missing_header_advice(*header, options, headers, is_angled ? "" : name);
    }
    if (log.find("invalid value for --gpu-architecture") != std::string::npos) {
        return architecture_advice(options);
    }
    if (log.find("invalid value for --std") != std::string::npos) {
        return "ProgramOptions std is \"" + value_of(options, "--std=") +
               "\", which this NVRTC does not know; expected \"c++03\", \"c++11\", \"c++14\", "
               "\"c++17\" or \"c++20\"";
    }
    if (const auto option = unknown_option(log)) {
        return newer_option_advice(*option);
    }
    if (const auto expression = name_expression(log)) {
        return "the source has nothing that the name expression \"" + std::string(*expression) +
               "\" names; check its spelling, its namespace and its template arguments";
    }
    if (std::string advice = undefined_name_advice(log); !advice.empty()) {
        return advice;
    }
    for (const auto& [words, advice] : MISTAKES) {
        if (log.find(words) != std::string::npos) {
            return std::string(advice);
        }
    }
    return {};
}

} // namespace cuprum::nvrtc
