// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "libraries/nvrtc.hpp"

#include <cuprum/compiler.hpp>
#include <cuprum/program.hpp>

#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuprum::nvrtc {

/// One compilation: an nvrtcProgram that lives as long as this object.
///
/// NVRTC accepts name expressions only before it compiles and keeps the results of one compilation,
/// so every compilation has its own program. Several threads may compile at once.
class Compilation {
public:
    using Headers = std::span<const std::pair<std::string, std::string>>; // (name, text)

    /// `name` is the source's name in the log. Every error of this object holds the options. Source
    /// and headers must outlive this object.
    [[nodiscard]] Compilation(const std::string& source, std::string name,
                              std::vector<std::string> options, Headers headers = {});
    Compilation(const std::string&& source, std::string name, std::vector<std::string> options,
                Headers headers = {}) = delete; // a temporary would not outlive this object
    ~Compilation();
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    /// Requests the name in the code of a C++ `expression`. Call it before run().
    void add_name_expression(const std::string& expression);

    /// Makes run() end early, with NVRTC_ERROR_CANCELLED, once `counter` changes.
    /// @throws NotSupportedError if NVRTC is older than 12.8.
    void cancel_when_changed(const std::atomic<unsigned>& counter);

    /// Compiles and returns the log.
    /// @throws NVRTCError with log, options and, for common failures, advice.
    std::string run();

    /// Returns the name in the code. Call it after run().
    [[nodiscard]] std::string lowered_name(const std::string& expression) const;

    /// Returns the result of creating the precompiled header, with the reason of a failure. Call it
    /// after run().
    /// @throws NotSupportedError if NVRTC is older than 12.8.
    [[nodiscard]] std::pair<PchStatus, std::string> pch_status() const;
    /// If the precompiled header failed for lack of room, makes room and returns true: compile
    /// again.
    [[nodiscard]] bool grow_pch_heap() const;

    [[nodiscard]] nvrtcProgram get() const noexcept { return program_; }

    /// Return the results; each is empty if the options produced none. PTX has no final NUL.
    [[nodiscard]] std::vector<std::byte> ptx() const;
    [[nodiscard]] std::vector<std::byte> cubin() const;
    [[nodiscard]] std::vector<std::byte> ltoir() const;

private:
    template <typename... Params, typename... Args>
    void call(const libraries::Entry<nvrtcResult(Params...)>& entry, Args... args) const;
    [[nodiscard]] std::vector<std::byte>
    read(const libraries::Entry<nvrtcResult(nvrtcProgram, std::size_t*)>& size_of,
         const libraries::Entry<nvrtcResult(nvrtcProgram, char*)>& get) const;
    [[nodiscard]] std::string log() const;

    /// The state that NVRTC's callback reads.
    struct Cancellation {
        const std::atomic<unsigned>* counter = nullptr;
        unsigned start = 0;
    };

    nvrtcProgram program_ = nullptr;
    const std::string& source_;
    std::string name_;
    std::vector<std::string> options_;
    Headers headers_;
    Cancellation cancellation_;
};

/// Returns the first error of a log, with the lines that NVRTC quotes; empty if it has none.
[[nodiscard]] std::string_view first_error(std::string_view log);

/// Returns the message of an error, without its place.
[[nodiscard]] std::string headline_of(std::string_view error);

/// Returns the line of the first error in a log, as "line 3 of "x.cu": <the line>"; empty if it is
/// in none of `texts`, which are the sources by name.
[[nodiscard]] std::string offending_line(const std::string& log, Compilation::Headers texts);

/// Returns what to do about a failed compilation, derived from the first error of its log; empty if
/// the error says it all. `name` is the source's: NVRTC searches its folder for headers too.
[[nodiscard]] std::string advice_for(const std::string& whole_log,
                                     const std::vector<std::string>& options,
                                     Compilation::Headers headers = {}, std::string_view name = {},
                                     std::string_view source = {});

} // namespace cuprum::nvrtc
