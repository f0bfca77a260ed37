// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The common interface of nvJitLink and the driver's linker.

#pragma once

#include <cuprum/linker.hpp>
#include <cuprum/object_code.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// One link: takes code and links once. Not thread-safe.
class LinkSession {
public:
    LinkSession() = default;
    virtual ~LinkSession() = default;
    LinkSession(const LinkSession&) = delete;
    LinkSession& operator=(const LinkSession&) = delete;

    /// Adds code, which must outlive this object. @throws LinkerError.
    virtual void add(const ObjectCode& code) = 0;
    /// Links and returns the image. @throws LinkerError.
    [[nodiscard]] virtual std::vector<std::byte> finish(CodeType target) = 0;
    /// Return the logs so far. @throws LinkerError if a log cannot be read.
    [[nodiscard]] virtual std::string error_log() const = 0;
    [[nodiscard]] virtual std::string info_log() const = 0;
    [[nodiscard]] virtual void* handle() const noexcept = 0;
};

/// Starts linking with nvJitLink.
[[nodiscard]] std::unique_ptr<LinkSession> start_nvjitlink(const LinkerOptions& options);

/// Starts linking with the driver, in the primary context of the current device.
/// @throws UnsupportedOptionError for options that it does not support.
[[nodiscard]] std::unique_ptr<LinkSession> start_driver_link(const LinkerOptions& options);

/// Starts linking PTX with the emulated device's linker, which takes nvJitLink's options as well.
/// Those that would only change machine code have no effect.
[[nodiscard]] std::unique_ptr<LinkSession> start_emulated_link(const LinkerOptions& options);

/// Returns what to do about the first function or variable that a linker's log calls undefined;
/// empty if there is none.
[[nodiscard]] std::string advice_about_undefined(std::string_view log);

} // namespace cuprum::detail
