// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum {

/// Reports a failed driver call.
///
/// The text names the call, the code and its number, what the code means and, for the codes people
/// meet, what to do: "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (2): ...".
class CUPRUM_API CUDAError : public std::runtime_error {
public:
    /// Makes the error for a driver result code; `call` is the function that returned it, `hint`
    /// what to do in this place, if more can be said than the code's own explanation.
    CUDAError(int code, std::string call, std::string_view hint = {});

    /// Returns the driver's result code, a CUresult.
    [[nodiscard]] int code() const noexcept { return code_; }

    /// Returns the code's name, such as "CUDA_ERROR_INVALID_VALUE".
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Returns the name of the call that failed.
    [[nodiscard]] const std::string& call() const noexcept { return call_; }

    /// Returns what the code means, in one sentence.
    [[nodiscard]] const std::string& explanation() const noexcept { return explanation_; }

    /// Returns what is known of this failure and what to do: the end of the text's first line.
    [[nodiscard]] const std::string& advice() const noexcept { return advice_; }

    /// Returns what the driver wrote to its log about it, empty if nothing or before CUDA 12.9.
    [[nodiscard]] const std::string& driver_log() const noexcept { return driver_log_; }

    /// Returns the kernels last launched on each stream, if the code says that work on the device
    /// failed: one of them may be at fault. A line each, "kernel on stream 0x...".
    [[nodiscard]] const std::vector<std::string>& in_flight() const noexcept { return in_flight_; }

protected:
    CUDAError(int code, std::string name, std::string call, std::string explanation,
              const std::string& text);

private:
    int code_;
    std::string name_;
    CUDAError(int code, std::string call, std::string explanation, std::string advice,
              std::string driver_log, std::vector<std::string> in_flight);

    std::string call_;
    std::string explanation_;
    std::string advice_;
    std::string driver_log_;
    std::vector<std::string> in_flight_;
};

/// Reports that the device has not enough memory, with what was asked for and what was there.
class CUPRUM_API OutOfMemoryError : public CUDAError {
public:
    /// `hint` replaces the usual advice if more is known, such as the limit of a pool.
    OutOfMemoryError(std::string call, std::size_t requested_bytes, std::size_t free_bytes,
                     std::size_t total_bytes, std::string_view hint = {});

    /// Returns the size of the allocation that failed.
    [[nodiscard]] std::size_t requested_bytes() const noexcept { return requested_bytes_; }

    /// Returns what the device reported free just after the failure.
    [[nodiscard]] std::size_t free_bytes() const noexcept { return free_bytes_; }

    /// Returns the size of the device's memory.
    [[nodiscard]] std::size_t total_bytes() const noexcept { return total_bytes_; }

private:
    std::size_t requested_bytes_;
    std::size_t free_bytes_;
    std::size_t total_bytes_;
};

/// Reports that NVRTC refused a program. `code()` is an nvrtcResult; the text holds log and
/// options.
class CUPRUM_API NVRTCError : public CUDAError {
public:
    /// `advice` is what to do, where more can be said than the log says.
    NVRTCError(int code, const std::string& name, const std::string& call, std::string log,
               std::vector<std::string> options, std::string_view advice = {});

    /// Returns the compiler's log, empty when the failing call has none.
    [[nodiscard]] const std::string& log() const noexcept { return log_; }

    /// Returns the options that were passed to the compiler.
    [[nodiscard]] const std::vector<std::string>& options() const noexcept { return options_; }

private:
    std::string log_;
    std::vector<std::string> options_;
};

/// Reports that libNVVM refused a program. `code()` is an nvvmResult; the text holds log and
/// options.
class CUPRUM_API NVVMError : public CUDAError {
public:
    /// `advice` is what to do, where more can be said than the log says.
    NVVMError(int code, const std::string& name, const std::string& call, std::string log,
              std::vector<std::string> options, std::string_view advice = {});

    /// Returns the compiler's log, empty when the failing call has none.
    [[nodiscard]] const std::string& log() const noexcept { return log_; }

    /// Returns the options that were passed to the compiler.
    [[nodiscard]] const std::vector<std::string>& options() const noexcept { return options_; }

private:
    std::string log_;
    std::vector<std::string> options_;
};

/// Reports that the linker refused to link. `code()` is an nvJitLinkResult, or a CUresult if the
/// driver linked; the text holds log and options.
class CUPRUM_API LinkerError : public CUDAError {
public:
    /// `advice` is what to do, where more can be said than the log says.
    LinkerError(int code, const std::string& name, const std::string& call, std::string log,
                std::vector<std::string> options, std::string_view advice = {});

    /// Returns the linker's error log.
    [[nodiscard]] const std::string& log() const noexcept { return log_; }

    /// Returns the options that were passed to the linker.
    [[nodiscard]] const std::vector<std::string>& options() const noexcept { return options_; }

private:
    std::string log_;
    std::vector<std::string> options_;
};

/// Reports options that the compiler in use cannot honour, by name.
class CUPRUM_API UnsupportedOptionError : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// Reports that a library (the driver, NVRTC, nvJitLink...) cannot be loaded; the text lists where
/// it was looked for and what to do.
class CUPRUM_API LibraryNotFoundError : public std::runtime_error {
public:
    LibraryNotFoundError(std::string library, std::vector<std::string> tried,
                         std::string_view advice);

    /// Returns the library's plain name, such as "NVRTC".
    [[nodiscard]] const std::string& library() const noexcept { return library_; }

    /// Returns each place that was tried, with why it did not serve.
    [[nodiscard]] const std::vector<std::string>& tried() const noexcept { return tried_; }

private:
    std::string library_;
    std::vector<std::string> tried_;
};

/// Reports that the loaded driver (or compiler library) lacks a function; the text says which
/// version has it.
class CUPRUM_API NotSupportedError : public CUDAError {
public:
    NotSupportedError(const std::string& function, int version_needed, int version_found);
};

/// Reports the use of an object after `close()`, or after the reset of its device took it.
class CUPRUM_API ClosedError : public std::logic_error {
public:
    enum class Reason {
        Closed,
        Reset, // of the device, see Device::reset_primary_context()
    };

    /// `what` is the object's class, such as "Stream".
    explicit ClosedError(std::string_view what, Reason reason = Reason::Closed);
};

} // namespace cuprum
