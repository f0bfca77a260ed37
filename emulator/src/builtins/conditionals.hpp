// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The variables of conditional nodes, which kernels set by cudaGraphSetConditional.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace cuprum::emulator::builtins {

/// The live variables of the process by handle. Handles are never used again.
class Conditionals {
public:
    /// Returns the process's variables; never destroyed.
    [[nodiscard]] static Conditionals& instance();

    /// Gives a variable a handle until remove().
    [[nodiscard]] std::uint64_t add(std::atomic<std::uint32_t>& variable);

    void remove(std::uint64_t handle) noexcept;

    /// Sets a variable; false if the handle is none's.
    [[nodiscard]] bool set(std::uint64_t handle, std::uint32_t value) noexcept;

private:
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::atomic<std::uint32_t>*> variables_;
    std::uint64_t next_ = 0x10001; // no small number, so that a plain integer is no handle
};

} // namespace cuprum::emulator::builtins
