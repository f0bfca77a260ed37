// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The emulated driver, as the stand-ins for compilers use it.

#pragma once

#include <cuda.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::compilers {

/// What went wrong, in words for the user.
class CompileError : public std::runtime_error {
public:
    CompileError(CUresult code, const std::string& text) : std::runtime_error(text), code_(code) {}

    /// Returns what the driver returned.
    [[nodiscard]] CUresult code() const noexcept { return code_; }

private:
    CUresult code_;
};

/// The emulated driver beside this program or library. Loaded once, and never unloaded.
class EmulatedDriver {
public:
    /// @throws CompileError if there is none, or if it does not start.
    static const EmulatedDriver& instance();

    /// Returns the function of a name that cuda.h declares.
    template <typename Pointer>
    [[nodiscard]] Pointer function(const char* name) const {
        return reinterpret_cast<Pointer>(find(name));
    }

private:
    EmulatedDriver();

    [[nodiscard]] void* find(const char* name) const;

    void* library_ = nullptr;
};

/// The current context, or else the primary one of the first device while this object lives.
class [[nodiscard]] AnyContext {
public:
    explicit AnyContext(const EmulatedDriver& driver);
    ~AnyContext();
    AnyContext(const AnyContext&) = delete;
    AnyContext& operator=(const AnyContext&) = delete;

private:
    const EmulatedDriver& driver_;
    CUdevice device_ = 0;
    bool is_ours_ = false;
};

/// What a link should do besides linking.
struct LinkOptions {
    unsigned max_registers = 0;           // kernels without a limit report so many; 0: no limit
    std::vector<std::string> kernels{};   // parts of the names of kernels that are used
    std::vector<std::string> variables{}; // of variables
};

/// One link by the driver. It has a log of errors.
class Link {
public:
    /// `architecture` is what to link for, such as "sm_90a"; empty: the current device.
    explicit Link(const EmulatedDriver& driver, std::string_view architecture = {},
                  const LinkOptions& options = {});
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Adds code; throws CompileError with the log.
    void add(CUjitInputType type, const void* data, std::size_t bytes, const std::string& name);

    /// Links everything into a fatbin that holds PTX; throws CompileError with the log.
    [[nodiscard]] std::string complete();

private:
    void check(CUresult result, const std::string& what);

    const EmulatedDriver& driver_;
    std::vector<char> errors_;
    std::array<void*, 7> values_{}; // the driver writes the size of the log here
    CUlinkState state_ = nullptr;
};

/// Returns the number of an architecture: 90 for "sm_90", "sm_90a" and "compute_90". Returns 0 for
/// anything else.
[[nodiscard]] unsigned parse_architecture(std::string_view name) noexcept;

/// Returns the folder of the program or library that contains this code.
[[nodiscard]] std::filesystem::path own_folder();

/// Returns PTX as a fatbin that stands for machine code of an architecture such as "sm_90a".
[[nodiscard]] std::string wrap(const std::string& ptx, std::string_view architecture);

} // namespace cuprum::emulator::compilers

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the name of the function is needed as text.
#define CUPRUM_DRIVER_FUNCTION(driver, name)                                                       \
    (driver).function<decltype(&name)>(CUPRUM_DRIVER_TEXT(name))
#define CUPRUM_DRIVER_TEXT(name) CUPRUM_DRIVER_TEXT_OF(name)
#define CUPRUM_DRIVER_TEXT_OF(name) #name
