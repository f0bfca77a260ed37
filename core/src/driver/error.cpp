// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/error.hpp>

#include "driver/capture.hpp"
#include "driver/explanations.hpp"
#include "driver/hooks.hpp"
#include "support/text.hpp"

#include <cuprum/detail/closed.hpp>

#include <cuda.h>

#include <array>
#include <cstdio>
#include <utility>

namespace cuprum {

namespace {

std::string closed_text(const std::string& what, ClosedError::Reason reason) {
    if (reason == ClosedError::Reason::Destroyed) {
        return "this " + what +
               " was destroyed, or the node that held it, and cannot be used; add a "
               "new one";
    }
    // NOTE: programs written for cuda.core look for "closed Buffer".
    return reason == ClosedError::Reason::Reset
               ? "this " + what + " was destroyed by a reset of its device; create a new one"
               : "this " + what + " was closed, and a closed " + what +
                     " cannot be used; create a new one, or close it later";
}

std::string failure_text(const std::string& call, const std::string& name, int code,
                         const std::string& advice, const std::string& driver_log,
                         const std::vector<std::string>& in_flight) {
    const std::string head = call + " failed: " + name + " (" + std::to_string(code) + "): ";
    if (driver::is_about_device_work(code)) {
        const std::string first = driver::reported_before(code, call, in_flight, driver_log);
        if (!first.empty()) {
            return head + "this is the failure that " + first + " reported, and the context is " +
                   "unusable since then; " + driver::way_out_of_fault();
        }
    }
    std::string text = head + advice;
    if (!in_flight.empty()) {
        text += "\nlast launched:";
        for (const std::string& launch : in_flight) {
            text += "\n  " + launch;
        }
    }
    if (!driver_log.empty()) {
        text += "\nthe driver's log: " + driver_log;
    }
    return text;
}

std::string compiler_text(const std::string& call, const std::string& name, int code,
                          const std::string& log, const std::vector<std::string>& options,
                          std::string_view advice, std::string_view log_label) {
    std::string text = call + " failed: " + name + " (" + std::to_string(code) + ")";
    if (!advice.empty()) {
        text += ": ";
        text += advice;
    }
    text += "\noptions:";
    if (options.empty()) {
        text += " none";
    }
    for (const std::string& option : options) {
        text += ' ';
        text += option;
    }
    text += '\n';
    text += log_label;
    text += ':';
    if (log.empty()) {
        text += " empty";
    } else {
        text += '\n';
        text += log;
    }
    while (text.back() == '\n') {
        text.pop_back();
    }
    return text;
}

/// Formats a size rounded and to the byte: "1.5 GiB (1610612736 bytes)".
std::string readable_bytes(std::size_t bytes) {
    static constexpr std::array UNITS{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    std::string exact = std::to_string(bytes) + " bytes";
    if (bytes < 1024) {
        return exact;
    }
    double value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < UNITS.size()) {
        value /= 1024;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g %s", value, UNITS[unit]);
    return std::string(text.data()) + " (" + exact + ")";
}

std::string out_of_memory_text(std::size_t requested_bytes, std::size_t free_bytes,
                               std::size_t total_bytes, std::string_view hint) {
    std::string text = readable_bytes(requested_bytes) + " were requested, " +
                       readable_bytes(free_bytes) + " are free of " + readable_bytes(total_bytes);
    text += "; ";
    text += hint.empty() ? "free buffers, trim the memory pool or ask for less" : hint;
    return text;
}

std::string library_text(const std::string& library, const std::vector<std::string>& tried,
                         std::string_view advice) {
    std::string text = "cannot load " + library + "; " + std::string(advice) + "; tried:";
    for (const std::string& place : tried) {
        text += "\n  ";
        text += place;
    }
    return text;
}

std::string readable_version(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string not_supported_text(const std::string& function, int version_needed, int version_found) {
    const std::string needed = readable_version(version_needed);
    const std::string found = readable_version(version_found);
    const bool is_driver = function.rfind("cu", 0) == 0;
    const std::string holder = is_driver ? "the driver" : "the loaded library";
    if (version_found >= version_needed) {
        return holder + " (CUDA " + found + ") does not offer it, although CUDA " + needed +
               " and later do";
    }
    return "it needs CUDA " + needed + " and " + holder + " is for CUDA " + found + "; update " +
           holder;
}

} // namespace

std::string_view to_string(ErrorDomain domain) noexcept {
    return detail::enumerator_text<ErrorDomain::Loader>(
        domain, {"driver", "NVRTC", "nvJitLink", "NVVM", "NVML", "loader"});
}

Error::Error(ErrorDomain domain, int code, std::string name, std::string call,
             std::string explanation, std::string advice, const std::string& text)
    : std::runtime_error(text), domain_(domain), code_(code), name_(std::move(name)),
      call_(std::move(call)), explanation_(std::move(explanation)),
      advice_(advice.empty() ? explanation_ : std::move(advice)) {}

Error::Error(const Error& other, const std::string& text) : Error(other) {
    static_cast<std::runtime_error&>(*this) = std::runtime_error(text);
}

CUDAError::CUDAError(int code, std::string call, std::string_view hint)
    // NOTE: `call` is read twice, in no fixed order, so it is not moved.
    : CUDAError(code, call, driver::explanation_of(static_cast<CUresult>(code)), std::string(hint),
                driver::take_error_log(call),
                driver::is_about_device_work(code) ? driver::work_in_flight()
                                                   : std::vector<std::string>()) {}

CUDAError::CUDAError(int code, std::string call, std::string explanation, std::string advice,
                     std::string driver_log, std::vector<std::string> in_flight)
    : Error(ErrorDomain::Driver, code, driver::name_of(static_cast<CUresult>(code)), call,
            explanation, advice,
            failure_text(call, driver::name_of(static_cast<CUresult>(code)), code,
                         advice.empty() ? explanation : advice, driver_log, in_flight)),
      driver_log_(std::move(driver_log)), in_flight_(std::move(in_flight)) {
    driver::note_capture_fault(code, call);
}

CUDAError::CUDAError(const CUDAError& other, const std::string& text)
    : Error(other, text), driver_log_(other.driver_log_), in_flight_(other.in_flight_) {}

OutOfMemoryError::OutOfMemoryError(std::string call, std::size_t requested_bytes,
                                   std::size_t free_bytes, std::size_t total_bytes,
                                   std::string_view hint)
    : CUDAError(CUDA_ERROR_OUT_OF_MEMORY, std::move(call),
                out_of_memory_text(requested_bytes, free_bytes, total_bytes, hint)),
      requested_bytes_(requested_bytes), free_bytes_(free_bytes), total_bytes_(total_bytes) {}

LaunchError::LaunchError(const CUDAError& failure, std::string limit, const std::string& launch)
    : CUDAError(failure, limit + "; " +
                             failure_text(failure.call(), failure.name(), failure.code(), launch,
                                          failure.driver_log(), {})),
      limit_(std::move(limit)) {}

NotSupportedError::NotSupportedError(const std::string& function, int version_needed,
                                     int version_found)
    : CUDAError(CUDA_ERROR_NOT_SUPPORTED, function,
                not_supported_text(function, version_needed, version_found)) {}

CompilerError::CompilerError(const Report& report, std::string log,
                             std::vector<std::string> options)
    : Error(report.domain, report.code, report.name, report.call,
            std::string(report.advice.empty() ? report.explanation : report.advice), {},
            compiler_text(report.call, report.name, report.code, log, options, report.advice,
                          report.log_label)),
      log_(std::move(log)), options_(std::move(options)) {}

NVRTCError::NVRTCError(int code, const std::string& name, const std::string& call, std::string log,
                       std::vector<std::string> options, std::string_view advice)
    : CompilerError({.domain = ErrorDomain::NVRTC,
                     .code = code,
                     .name = name,
                     .call = call,
                     .explanation = "NVRTC refused the program; its log gives the reason",
                     .advice = advice,
                     .log_label = "compilation log"},
                    std::move(log), std::move(options)) {}

NVVMError::NVVMError(int code, const std::string& name, const std::string& call, std::string log,
                     std::vector<std::string> options, std::string_view advice)
    : CompilerError({.domain = ErrorDomain::NVVM,
                     .code = code,
                     .name = name,
                     .call = call,
                     .explanation = "libNVVM refused the program; its log gives the reason",
                     .advice = advice,
                     .log_label = "NVVM program log"},
                    std::move(log), std::move(options)) {}

LinkerError::LinkerError(ErrorDomain domain, int code, const std::string& name,
                         const std::string& call, std::string log, std::vector<std::string> options,
                         std::string_view advice)
    : CompilerError({.domain = domain,
                     .code = code,
                     .name = name,
                     .call = call,
                     .explanation = "the linker refused its input; its log gives the reason",
                     .advice = advice,
                     .log_label = "linker error log"},
                    std::move(log), std::move(options)) {}

NVMLError::NVMLError(int code, const std::string& name, const std::string& call,
                     const std::string& explanation, const std::string& advice)
    : Error(ErrorDomain::NVML, code, name, call, explanation, advice,
            failure_text(call, name, code, advice.empty() ? explanation : advice, {}, {})) {}

LibraryNotFoundError::LibraryNotFoundError(std::string library, std::vector<std::string> tried,
                                           std::string_view advice)
    : Error(ErrorDomain::Loader, 0, {}, "dlopen", "the library cannot be found or loaded",
            std::string(advice), library_text(library, tried, advice)),
      library_(std::move(library)), tried_(std::move(tried)) {}

ClosedError::ClosedError(std::string_view what, Reason reason)
    : std::logic_error(closed_text(std::string(what), reason)) {}

void detail::raise_closed(const char* class_name) {
    throw ClosedError(class_name);
}

void detail::raise_lost(const char* class_name) {
    throw ClosedError(class_name, ClosedError::Reason::Reset);
}

} // namespace cuprum
