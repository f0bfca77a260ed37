// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// NVIDIA's own nvJitLink, which turns LTO-IR into PTX.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cuprum::emulator::compilers {

/// One link by NVIDIA's library.
class RealNvJitLink {
public:
    /// Starts a link that gives PTX.
    ///
    /// @throws CompileError if the library is not installed, or if it refuses the options.
    [[nodiscard]] static std::unique_ptr<RealNvJitLink>
    open(const std::string& architecture, const std::vector<std::string>& options);

    ~RealNvJitLink();
    RealNvJitLink(const RealNvJitLink&) = delete;
    RealNvJitLink& operator=(const RealNvJitLink&) = delete;

    /// Adds input of one of NVIDIA's types; throws CompileError with the library's log.
    void add(int type, const void* data, std::size_t bytes, const std::string& name);

    /// Returns the linked PTX; throws CompileError with the library's log.
    [[nodiscard]] std::string complete();

private:
    RealNvJitLink() = default;

    void check(int result, const std::string& what);

    void* library_ = nullptr;
    void* handle_ = nullptr;
};

} // namespace cuprum::emulator::compilers
