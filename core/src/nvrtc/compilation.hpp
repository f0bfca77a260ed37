// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "nvrtc/table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cuprum::nvrtc {

/// One compilation: an nvrtcProgram that lives as long as this object.
///
/// NVRTC takes name expressions only before it compiles and keeps the results of one compilation,
/// so every compilation gets a program of its own; several may run at once, on several threads.
class Compilation {
public:
    /// `name` is what the log calls the source. The options are those of every error from here on.
    [[nodiscard]] Compilation(const std::string& source, const std::string& name,
                              std::vector<std::string> options);
    ~Compilation();
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

    /// Asks for the name in the code of what C++ calls `expression`. Before run().
    void add_name_expression(const std::string& expression);

    /// Compiles and returns the log.
    /// @throws NVRTCError with log, options and, for the failures people meet, advice.
    std::string run();

    /// Returns the name in the code. After run().
    [[nodiscard]] std::string lowered_name(const std::string& expression) const;

    /// Return the results, each empty if the options gave none. PTX without its final NUL.
    [[nodiscard]] std::vector<std::byte> ptx() const;
    [[nodiscard]] std::vector<std::byte> cubin() const;
    [[nodiscard]] std::vector<std::byte> ltoir() const;

private:
    template <typename... Params, typename... Args>
    void call(const Entry<nvrtcResult(Params...)>& entry, Args... args) const;
    [[nodiscard]] std::vector<std::byte>
    read(const Entry<nvrtcResult(nvrtcProgram, std::size_t*)>& size_of,
         const Entry<nvrtcResult(nvrtcProgram, char*)>& get) const;
    [[nodiscard]] std::string log() const;

    nvrtcProgram program_ = nullptr;
    std::vector<std::string> options_;
};

/// Returns what to do about a failed compilation, judged by its log; empty if nothing more can be
/// said than the log says.
[[nodiscard]] std::string advice_for(const std::string& log,
                                     const std::vector<std::string>& options);

} // namespace cuprum::nvrtc
