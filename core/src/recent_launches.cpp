// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "recent_launches.hpp"

#include <cstdint>
#include <cstdio>
#include <mutex>
#include <set>

namespace cuprum::detail {

namespace {

constinit std::mutex list_mutex;
constinit const LastLaunch* first = nullptr;

std::string stream_text(CUstream stream);

} // namespace

LastLaunch::~LastLaunch() {
    if (place_.load(std::memory_order_relaxed) != Place::Listed) {
        return;
    }
    const std::lock_guard lock(list_mutex);
    (previous_ == nullptr ? first : previous_->next_) = next_;
    if (next_ != nullptr) {
        next_->previous_ = previous_;
    }
}

void LastLaunch::list() const noexcept {
    const std::lock_guard lock(list_mutex);
    if (place_.load(std::memory_order_relaxed) == Place::Listed) {
        return; // another thread was first
    }
    place_.store(Place::Listed, std::memory_order_relaxed);
    next_ = first;
    if (first != nullptr) {
        first->previous_ = this;
    }
    first = this;
}

const char* permanent_name(std::string_view name) {
    static std::mutex mutex;
    static auto* names = new std::set<std::string, std::less<>>; // never destroyed
    const std::lock_guard lock(mutex);
    auto place = names->find(name);
    if (place == names->end()) {
        place = names->emplace(name).first;
    }
    return place->c_str();
}

std::vector<std::string> recent_launches() {
    std::vector<std::string> launches;
    const std::lock_guard lock(list_mutex);
    for (const LastLaunch* launch = first; launch != nullptr; launch = launch->next_) {
        if (const char* name = launch->name_.load(std::memory_order_relaxed)) {
            launches.push_back(std::string(name) + " on " + stream_text(launch->stream_));
        }
    }
    return launches;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::string stream_text(CUstream stream) {
    if (stream == CU_STREAM_LEGACY) {
        return "the legacy default stream";
    }
    if (stream == CU_STREAM_PER_THREAD) {
        return "the per-thread default stream";
    }
    char text[32];
    std::snprintf(text, sizeof(text), "stream 0x%llx",
                  static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(stream)));
    return text;
}

} // namespace

} // namespace cuprum::detail
