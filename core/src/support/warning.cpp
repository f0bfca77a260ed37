// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/warning.hpp>

#include "support/never_destroyed.hpp"
#include "support/warn.hpp"

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace cuprum {

namespace {

struct Channel {
    std::mutex mutex;
    std::shared_ptr<const WarningHandler> handler;
};

Channel& channel() {
    static detail::NeverDestroyed<Channel> only; // destructors of static objects may warn
    return *only;
}

} // namespace

WarningHandler set_warning_handler(WarningHandler handler) {
    auto next = handler ? std::make_shared<const WarningHandler>(std::move(handler)) : nullptr;
    {
        const std::lock_guard lock(channel().mutex);
        channel().handler.swap(next);
    }
    return next ? *next : WarningHandler();
}

void detail::warn(WarningKind kind, std::string_view message) noexcept {
    bool is_handled = false;
    try {
        if (LateWarnings* const late = LateWarnings::innermost; late != nullptr) {
            if (late->held_back_ == nullptr) {
                late->held_back_ = std::make_unique<LateWarnings::Warnings>();
            }
            late->held_back_->emplace_back(kind, message);
            return;
        }
        std::shared_ptr<const WarningHandler> handler;
        {
            const std::lock_guard lock(channel().mutex);
            handler = channel().handler;
        }
        if (handler) {
            (*handler)(kind, message);
            is_handled = true;
        }
    } catch (...) { // a handler that throws breaks its promise; the message is not lost with it
        is_handled = false;
    }
    if (!is_handled) {
        std::fprintf(stderr, "cuprum: warning: %.*s\n", static_cast<int>(message.size()),
                     message.data());
    }
}

void detail::LateWarnings::send() noexcept {
    const std::unique_ptr<Warnings> due = std::move(held_back_);
    for (const auto& [kind, message] : *due) {
        warn(kind, message);
    }
}

} // namespace cuprum
