// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/driver_log.hpp"

#include "objects/process/error.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace cuprum::emulator {

namespace {

constexpr std::size_t MAX_BYTES = 25600; // as CUDA documents
constexpr char LEFT_OUT[] = "[earlier messages were left out]";

/// Returns "[12:34:56.789][4711][E] ".
std::string prefix(CUlogLevel level) {
    const auto now = std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    const auto since = now.time_since_epoch() % std::chrono::seconds(1);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    char text[64];
    std::snprintf(
        text, sizeof text, "[%02d:%02d:%02d.%03d][%d][%c] ", parts.tm_hour, parts.tm_min,
        parts.tm_sec,
        static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count()),
        static_cast<int>(::getpid()), level == CU_LOG_LEVEL_ERROR ? 'E' : 'W');
    return text;
}

} // namespace

DriverLog& DriverLog::instance() {
    static auto* log = new DriverLog;
    return *log;
}

void DriverLog::add(CUlogLevel level, std::string text) noexcept {
    try {
        std::string line = prefix(level) + text;
        std::ranges::replace(line, '\n', ' ');
        line.resize(std::min<std::size_t>(line.size(), MAX_BYTES / 8));
        std::vector<std::shared_ptr<Subscription>> subscriptions;
        {
            const std::lock_guard lock(mutex_);
            bytes_ += line.size() + 1;
            lines_.push_back(line);
            while (bytes_ > MAX_BYTES) {
                bytes_ -= lines_.front().size() + 1;
                lines_.pop_front();
                ++first_;
            }
            subscriptions = subscriptions_;
        }
        // Not under the lock: a callback may call the driver.
        for (const auto& subscription : subscriptions) {
            try {
                subscription->callback(subscription->data, level, text.data(), text.size());
            } catch (...) {
                // What leaves a callback of the program must not end the process. There is nothing
                // to report it to: the report would go to the callback again.
            }
        }
    } catch (const std::bad_alloc&) {
        // Out of memory while reporting: the message is lost.
    }
}

CUlogsCallbackHandle DriverLog::subscribe(CUlogsCallback callback, void* data) {
    require(callback != nullptr, "the callback must not be NULL");
    const std::lock_guard lock(mutex_);
    subscriptions_.push_back(std::make_shared<Subscription>(callback, data));
    return reinterpret_cast<CUlogsCallbackHandle>(subscriptions_.back().get());
}

void DriverLog::unsubscribe(CUlogsCallbackHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto erased = std::erase_if(subscriptions_, [&](const auto& each) {
        return reinterpret_cast<CUlogsCallbackHandle>(each.get()) == handle;
    });
    require(erased != 0, "not a callback that is registered");
}

CUlogIterator DriverLog::next() const {
    const std::lock_guard lock(mutex_);
    return first_ + static_cast<CUlogIterator>(lines_.size());
}

std::string DriverLog::read(CUlogIterator* from, std::size_t limit) const {
    const std::lock_guard lock(mutex_);
    const CUlogIterator end = first_ + static_cast<CUlogIterator>(lines_.size());
    const CUlogIterator wanted = from == nullptr ? first_ : std::min(*from, end);
    CUlogIterator start = std::max(wanted, first_);
    const bool is_lost = from != nullptr && wanted < first_;
    const auto size_from = [&](CUlogIterator number) {
        const bool is_cut = is_lost || number > wanted;
        std::size_t size = is_cut ? sizeof LEFT_OUT : 0; // its NUL is counted as the line end
        for (CUlogIterator each = number; each < end; ++each) {
            size += lines_[each - first_].size() + 1;
        }
        return size;
    };
    while (start < end && size_from(start) > limit) {
        ++start;
    }
    std::string text;
    if (start < end || wanted == end) {
        if (start < end && (is_lost || start > wanted)) {
            text = std::string(LEFT_OUT) + '\n';
        }
        for (; start < end; ++start) {
            text += lines_[start - first_] + '\n';
        }
    } else {
        fail(CUDA_ERROR_INVALID_VALUE, "no message fits into the buffer");
    }
    if (from != nullptr) {
        *from = end;
    }
    return text;
}

} // namespace cuprum::emulator
