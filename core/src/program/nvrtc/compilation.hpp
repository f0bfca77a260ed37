// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "libraries/nvrtc/table.hpp"

#include <cuprum/compiler.hpp>

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
/// NVRTC takes name expressions only before it compiles and keeps the results of one compilation,
/// so every compilation gets a program of its own; several may run at once, on several threads.
class Compilation {
public:
    using Headers = std::span<const std::pair<std::string, std::string>>; // (name, text)

    /// `name` is what the log calls the source. The options are those of every error from here on.
    /// Source and headers must outlive this object.
    [[nodiscard]] Compilation(const std::string& source, std::string name,
                              std::vector<std::string> options, Headers headers = {});
    Compilation(const std::string&& source, std::string name, std::vector<std::string> options,
                Headers headers = {}) = delete; // it would be gone before run()
    ~Compilation();
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    /// Asks for the name in the code of what C++ calls `expression`. Before run().
    void add_name_expression(const std::string& expression);

    /// Has run() end early, with NVRTC_ERROR_CANCELLED, once `counter` is no longer what it is now.
    /// @throws NotSupportedError if NVRTC cannot.
    void cancel_when_changed(const std::atomic<unsigned>& counter);

    /// Compiles and returns the log.
    /// @throws NVRTCError with log, options and, for the failures people meet, advice.
    std::string run();

    /// Returns the name in the code. After run().
    [[nodiscard]] std::string lowered_name(const std::string& expression) const;

    /// Returns what became of the precompiled header that was to be made, and for a failure why.
    /// After run(). @throws NotSupportedError if NVRTC cannot tell.
    [[nodiscard]] std::pair<PchStatus, std::string> pch_status() const;
    /// Makes room for the precompiled header if that is what it failed for; tells whether
    /// compiling again is worth it.
    [[nodiscard]] bool grow_pch_heap() const;

    [[nodiscard]] nvrtcProgram get() const noexcept { return program_; }

    /// Return the results, each empty if the options gave none. PTX without its final NUL.
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

    /// What NVRTC's callback looks at.
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

/// Returns the first line that a log complains of, as "line 3 of "x.cu": <the line>"; empty if the
/// log names none that is known. `texts` are the sources, by name.
[[nodiscard]] std::string offending_line(const std::string& log, Compilation::Headers texts);

/// Returns what to do about a failed compilation, judged by its log; empty if nothing more can be
/// said than the log says. `name` is the source's, in whose folder headers are looked for too.
[[nodiscard]] std::string advice_for(const std::string& log,
                                     const std::vector<std::string>& options,
                                     Compilation::Headers headers = {}, std::string_view name = {});

} // namespace cuprum::nvrtc
