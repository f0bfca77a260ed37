// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/lock_watch.hpp"

#include <cuprum/warning.hpp>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::testing {

/// Collects the library's warnings as long as it exists.
class WarningLog {
public:
    WarningLog() {
        previous_ = set_warning_handler([this](WarningKind kind, std::string_view message) {
            expect_no_lock("the handler of warnings");
            const std::lock_guard lock(mutex_);
            warnings_.emplace_back(kind, message);
        });
    }

    ~WarningLog() { set_warning_handler(std::move(previous_)); }

    WarningLog(const WarningLog&) = delete;
    WarningLog& operator=(const WarningLog&) = delete;

    /// Returns the messages of one kind so far and removes them.
    std::vector<std::string> take(WarningKind kind) {
        const std::lock_guard lock(mutex_);
        std::vector<std::string> messages;
        std::erase_if(warnings_, [&](const auto& warning) {
            if (warning.first == kind) {
                messages.push_back(warning.second);
            }
            return warning.first == kind;
        });
        return messages;
    }

private:
    std::mutex mutex_;
    std::vector<std::pair<WarningKind, std::string>> warnings_;
    WarningHandler previous_;
};

} // namespace cuprum::testing
