// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The exceptions of Cuprum. Failures of CUDA derive from Error, a std::runtime_error:
//
//   Error                    a library failed; domain() says whose code() it is
//   ├─ CUDAError             a driver call failed
//   │  ├─ OutOfMemoryError   the device does not have enough memory
//   │  ├─ LaunchError        a launch breaks a limit
//   │  └─ NotSupportedError  the driver or a library lacks a function
//   ├─ CompilerError         a compiler or linker refused its input; has log and options
//   │  ├─ NVRTCError
//   │  ├─ NVVMError
//   │  └─ LinkerError
//   ├─ NVMLError             the management library refused a call
//   └─ LibraryNotFoundError  a library cannot be loaded
//
// Mistakes in a program are logic errors: UnsupportedOptionError is a std::invalid_argument,
// ClosedError a std::logic_error.

#pragma once

#include <cuprum/detail/export.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum {

/// Whose error codes an error holds. The same number means different things in two domains.
enum class ErrorDomain {
    Driver,    // CUresult
    NVRTC,     // nvrtcResult
    NvJitLink, // nvJitLinkResult
    NVVM,      // nvvmResult
    NVML,      // nvmlReturn_t
    Loader,    // the system's loader, which has no codes: always 0
};

/// Returns the name of a domain as messages spell it: "driver", "NVRTC", "nvJitLink"...
[[nodiscard]] CUPRUM_API std::string_view to_string(ErrorDomain domain) noexcept;

/// A failure of CUDA: of the driver, of a compiler or of another library.
class CUPRUM_API Error : public std::runtime_error {
public:
    /// Returns which library the code belongs to.
    [[nodiscard]] ErrorDomain domain() const noexcept { return domain_; }

    /// Returns the result code. It means one thing together with domain().
    [[nodiscard]] int code() const noexcept { return code_; }

    /// Returns the code's name, such as "CUDA_ERROR_INVALID_VALUE".
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Returns the name of the call that failed.
    [[nodiscard]] const std::string& call() const noexcept { return call_; }

    /// Returns what the code means, in one sentence.
    [[nodiscard]] const std::string& explanation() const noexcept { return explanation_; }

    /// Returns what is known about this failure and what to do: the end of the text's first line.
    [[nodiscard]] const std::string& advice() const noexcept { return advice_; }

protected:
    /// An empty `advice` is the explanation.
    Error(ErrorDomain domain, int code, std::string name, std::string call, std::string explanation,
          std::string advice, const std::string& text);
    /// Copies everything but the text.
    Error(const Error& other, const std::string& text);

private:
    ErrorDomain domain_;
    int code_;
    std::string name_;
    std::string call_;
    std::string explanation_;
    std::string advice_;
};

/// A failed driver call. `code()` is a CUresult.
///
/// The text names the call, the code and its number, what the code means and, for common codes,
/// what to do: "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (2): ...".
class CUPRUM_API CUDAError : public Error {
public:
    /// Makes the error for a result code of the driver. `call` is the function that returned it.
    /// `hint` says what to do here, if more is known than the code's own explanation.
    CUDAError(int code, std::string call, std::string_view hint = {});

    /// Returns what the driver wrote to its log about the call; empty if nothing, or before CUDA
    /// 12.9.
    [[nodiscard]] const std::string& driver_log() const noexcept { return driver_log_; }

    /// Returns the kernel last launched on each stream if work on the device failed: one of them
    /// may be at fault. Each is a line, "kernel on stream 0x...".
    [[nodiscard]] const std::vector<std::string>& in_flight() const noexcept { return in_flight_; }

protected:
    /// Copies everything but the text.
    CUDAError(const CUDAError& other, const std::string& text);

private:
    CUDAError(int code, std::string call, std::string explanation, std::string advice,
              std::string driver_log, std::vector<std::string> in_flight);

    std::string driver_log_;
    std::vector<std::string> in_flight_;
};

/// The device does not have enough memory. Free some and try again, or ask for less.
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

/// A launch that breaks a limit of the device or of the kernel.
///
/// Nothing was launched and the context stays usable, so a tuner can catch it and try another
/// configuration.
class CUPRUM_API LaunchError : public CUDAError {
public:
    /// `failure` is the driver's answer, `limit` which limit was broken, with the numbers, and
    /// `launch` what was launched.
    LaunchError(const CUDAError& failure, std::string limit, const std::string& launch);

    /// Returns which limit was broken, with the numbers.
    [[nodiscard]] const std::string& limit() const noexcept { return limit_; }

private:
    std::string limit_;
};

/// The loaded driver or library lacks a function; the text says which version has it. The code is
/// the driver's CUDA_ERROR_NOT_SUPPORTED, for functions of other libraries too.
class CUPRUM_API NotSupportedError : public CUDAError {
public:
    /// Names a driver function and the driver versions that are needed and present.
    NotSupportedError(const std::string& function, int version_needed, int version_found);
};

/// A compiler or linker refused its input. The text holds the log and the options.
class CUPRUM_API CompilerError : public Error {
public:
    /// Returns the log, empty when the failing call has none.
    [[nodiscard]] const std::string& log() const noexcept { return log_; }

    /// Returns the options that were passed to the compiler or linker.
    [[nodiscard]] const std::vector<std::string>& options() const noexcept { return options_; }

protected:
    /// What a compiler reported about a failure.
    struct Report {
        ErrorDomain domain;
        int code;
        const std::string& name;
        const std::string& call;
        std::string_view explanation; // without advice
        std::string_view advice;      // what to do, if more is known than the log says
        std::string_view log_label;
    };

    CompilerError(const Report& report, std::string log, std::vector<std::string> options);

private:
    std::string log_;
    std::vector<std::string> options_;
};

/// NVRTC refused a program. `code()` is an nvrtcResult.
class CUPRUM_API NVRTCError : public CompilerError {
public:
    /// Describes a call of NVRTC that failed, with the log and the options.
    NVRTCError(int code, const std::string& name, const std::string& call, std::string log,
               std::vector<std::string> options, std::string_view advice = {});
};

/// libNVVM refused a program. `code()` is an nvvmResult.
class CUPRUM_API NVVMError : public CompilerError {
public:
    /// Describes a call of libNVVM that failed, with the log and the options.
    NVVMError(int code, const std::string& name, const std::string& call, std::string log,
              std::vector<std::string> options, std::string_view advice = {});
};

/// A linker refused its input. `code()` is an nvJitLinkResult, or a CUresult if the driver linked:
/// see domain().
class CUPRUM_API LinkerError : public CompilerError {
public:
    /// Describes a call of a linker that failed, with the log and the options.
    LinkerError(ErrorDomain domain, int code, const std::string& name, const std::string& call,
                std::string log, std::vector<std::string> options, std::string_view advice = {});
};

/// The management library (NVML) refused a call. `code()` is an nvmlReturn_t.
///
/// Functions of cuprum::system throw it.
class CUPRUM_API NVMLError : public Error {
public:
    /// An empty `advice` is the explanation.
    NVMLError(int code, const std::string& name, const std::string& call,
              const std::string& explanation, const std::string& advice = {});
};

/// A library (the driver, NVRTC, nvJitLink...) cannot be loaded. The text lists the places that
/// were searched and says what to do.
class CUPRUM_API LibraryNotFoundError : public Error {
public:
    /// Names a library, the places where it was searched for, and the way out.
    LibraryNotFoundError(std::string library, std::vector<std::string> tried,
                         std::string_view advice);

    /// Returns the library's plain name, such as "NVRTC".
    [[nodiscard]] const std::string& library() const noexcept { return library_; }

    /// Returns each place that was searched, with the reason why it did not serve.
    [[nodiscard]] const std::vector<std::string>& tried() const noexcept { return tried_; }

private:
    std::string library_;
    std::vector<std::string> tried_;
};

/// Options that the compiler in use does not support; the text names them.
class CUPRUM_API UnsupportedOptionError : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// The use of an object after `close()`, or after a reset of its device destroyed it.
class CUPRUM_API ClosedError : public std::logic_error {
public:
    /// Why an object cannot be used.
    enum class Reason {
        Closed,
        Reset,     // of the device, see Device::reset_primary_context()
        Destroyed, // a node of a graph, or with the node that held it
    };

    /// `what` is the object's class, such as "Stream".
    explicit ClosedError(std::string_view what, Reason reason = Reason::Closed);
};

} // namespace cuprum
