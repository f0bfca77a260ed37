// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which call of the program made an object, for reports about memory and leaks.

#pragma once

#include "places/place.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace cuprum::emulator {

/// A driver call: the function, the host thread and, if recorded, the place in the program.
struct Origin {
    const char* function = nullptr;       // lives as long as the library; nullptr: unknown
    long thread = 0;                      // the system's thread number
    const places::Place* place = nullptr; // nullptr: not recorded

    /// Returns the call that the current thread is in. `places::Subjects` decides whether its place
    /// is recorded.
    [[nodiscard]] static Origin here(std::uint8_t subject) noexcept;

    /// Returns "cuMemAlloc_v2, host thread 4711" and the place, in further lines that start with
    /// `indent`.
    [[nodiscard]] std::string to_text(std::string_view indent) const;
};

/// Marks for its lifetime which driver function the current thread is in.
class CallScope {
public:
    [[nodiscard]] explicit CallScope(const char* function) noexcept : outer_(current_) {
        current_ = function;
    }

    ~CallScope() { current_ = outer_; }

    CallScope(const CallScope&) = delete;
    CallScope& operator=(const CallScope&) = delete;

private:
    friend struct Origin;

    static thread_local constinit const char* current_;
    const char* outer_;
};

/// Marks for its lifetime that the current thread runs a host function of a stream.
class HostCallScope {
public:
    [[nodiscard]] HostCallScope() noexcept;
    ~HostCallScope();

    HostCallScope(const HostCallScope&) = delete;
    HostCallScope& operator=(const HostCallScope&) = delete;

    /// Returns whether the current thread runs a host function.
    [[nodiscard]] static bool is_inside() noexcept { return is_inside_; }

private:
    static thread_local constinit bool is_inside_;
};

} // namespace cuprum::emulator
