// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "builtins/output.hpp"

#include "builtins/never_destroyed.hpp"
#include "builtins/status_line.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>

namespace cuprum::emulator::builtins {

namespace {

/// The most output that is held back. A device would begin to lose output here.
constexpr std::size_t MAX_HELD_BYTES = std::size_t{1} << 20;

struct Output {
    std::mutex mutex;
    std::string text;
    std::atomic<bool> has_text{false};
};

Output& output() {
    static NeverDestroyed<Output> the_output;
    return the_output.value;
}

void write_out(Output& out) noexcept {
    StatusLine::instance().make_room();
    (void)std::fwrite(out.text.data(), 1, out.text.size(), stdout);
    (void)std::fflush(stdout);
    out.text.clear();
    out.has_text = false;
}

} // namespace

void write_output(std::string_view text) {
    Output& out = output();
    const std::lock_guard lock(out.mutex);
    out.text += text;
    out.has_text = true;
    if (out.text.size() > MAX_HELD_BYTES) {
        write_out(out);
    }
}

void flush_output() noexcept {
    Output& out = output();
    if (!out.has_text) {
        return;
    }
    const std::lock_guard lock(out.mutex);
    if (out.has_text) {
        write_out(out);
    }
}

} // namespace cuprum::emulator::builtins
