// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/warning.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuprum::detail {

/// Sends a warning to the handler, or to stderr if there is none. Never throws.
///
/// NOTE: hold no lock while calling it: a handler may wait for a lock of its own, such as Python's.
/// Code that holds a lock and may warn, as most driver calls may, takes a QuietLock.
void warn(WarningKind kind, std::string_view message) noexcept;

/// Holds back the warnings of the calling thread for a scope, and sends them when it ends.
class LateWarnings {
public:
    LateWarnings() noexcept : outer_(std::exchange(innermost, this)) {}

    ~LateWarnings() {
        innermost = outer_;
        if (held_back_ != nullptr) [[unlikely]] {
            send();
        }
    }

    LateWarnings(const LateWarnings&) = delete;
    LateWarnings& operator=(const LateWarnings&) = delete;

    /// Returns whether the warnings of the calling thread are held back now, for tests.
    [[nodiscard]] static bool is_active() noexcept { return innermost != nullptr; }

private:
    friend void warn(WarningKind kind, std::string_view message) noexcept;

    using Warnings = std::vector<std::pair<WarningKind, std::string>>;

    void send() noexcept;

    LateWarnings* outer_;
    std::unique_ptr<Warnings> held_back_;

    // NOTE: launches of graphs read it, and "initial-exec" finds it in one instruction; the default
    // of a shared library is a function call. In return, all thread-local data of this library must
    // fit into the 1.5 KiB that the C library reserves for libraries that are loaded late. A test
    // checks the size.
    [[gnu::tls_model(
        "initial-exec")]] static thread_local constinit inline LateWarnings* innermost = nullptr;
};

// The terminal behind stderr, and a line of it that is drawn again and again.

/// Returns whether stderr is a terminal on which a line can be drawn again.
[[nodiscard]] bool has_terminal();

/// Returns after which time long work is shown on the terminal, as CUPRUM_PROGRESS says; zero means
/// never. If the variable has an invalid value, sets `problem` and returns the default.
[[nodiscard]] std::chrono::seconds progress_delay(std::string& problem);

/// Draws the line below the cursor, as much of it as fits, with "?" for what is not printable
/// ASCII. The cursor stays where it is, so nothing that the program wrote is overwritten.
///
/// Returns false, and draws nothing, unless stderr is the terminal that controls the process, and
/// the process runs in its foreground.
bool draw_line_below(std::string_view text) noexcept;

/// Erases the line below the cursor, on the same condition.
void erase_line_below() noexcept;

} // namespace cuprum::detail
