// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "stream/recent_launches.hpp"

#include "driver/hooks.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"
#include "support/readable_name.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace cuprum::detail {

namespace {

constinit std::mutex list_mutex;
constinit const LastLaunch* first = nullptr;

} // namespace

/// Returns the names that listed streams show. The list must be locked.
std::set<const char*> shown_names() {
    std::set<const char*> shown;
    for (const LastLaunch* launch = first; launch != nullptr; launch = launch->next_) {
        shown.insert(launch->name_.load(std::memory_order_acquire));
    }
    return shown;
}

namespace {

/// The names of existing kernels, and those that streams may still show, each with its number of
/// holders.
///
/// A launch only stores a pointer, so it is unknown when a stream stops showing a name. When enough
/// names have no holder, the streams are searched for them. A kernel exists while it is launched,
/// so a name without a holder cannot appear on another stream.
struct Names {
    static constexpr std::size_t FEW = 64;

    std::mutex mutex;
    std::map<std::string, std::size_t, std::less<>> holders;
    std::size_t unheld = 0;
    std::size_t sweep_at = FEW;

    /// Returns whether enough names have no holder for a search, which looks at all of them.
    [[nodiscard]] bool is_sweep_due() const {
        return unheld >= sweep_at && unheld >= holders.size() / 2;
    }
};

constexpr driver::Hooks LAUNCH_HOOKS{.work_in_flight = recent_launches};
[[gnu::init_priority(driver::HOOKS_PRIORITY)]] const driver::AddedHooks launch_hooks(LAUNCH_HOOKS);

Names& names() {
    static NeverDestroyed<Names> only; // static objects may hold kernels
    // sweep() locks the names first.
    [[maybe_unused]] static const bool are_kept =
        keep_unlocked_in_children<[]() -> std::mutex& { return list_mutex; }>() &&
        keep_unlocked_in_children<[]() -> std::mutex& { return names().mutex; }>();
    return *only;
}

/// Removes the names that have no holder and that no stream shows. The names must be locked.
void sweep() noexcept {
    try {
        const std::lock_guard lock(list_mutex); // readers of names in the list hold it too
        const std::set<const char*> shown = shown_names();
        std::erase_if(names().holders, [&](const auto& name) {
            return name.second == 0 && !shown.contains(name.first.c_str());
        });
        names().unheld = static_cast<std::size_t>(std::ranges::count(
            names().holders, std::size_t{0}, [](const auto& name) { return name.second; }));
        // More than the streams show, so that the search costs little for each name.
        names().sweep_at = Names::FEW + 2 * names().unheld + shown.size();
    } catch (const std::bad_alloc&) { // NOLINT(bugprone-empty-catch): another time then
    }
}

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

LaunchName::LaunchName(std::string_view name) {
    const std::lock_guard lock(names().mutex);
    auto place = names().holders.find(name);
    if (place == names().holders.end()) {
        place = names().holders.emplace(name, 0).first;
    } else if (place->second == 0) {
        --names().unheld; // a stream may still show it
    }
    ++place->second;
    text_ = place->first.c_str();
}

LaunchName::~LaunchName() {
    if (text_ == nullptr) {
        return;
    }
    const std::lock_guard lock(names().mutex);
    const auto place = names().holders.find(std::string_view(text_));
    if (--place->second == 0) {
        ++names().unheld;
        if (names().is_sweep_due()) {
            sweep();
        }
    }
}

LaunchName& LaunchName::operator=(LaunchName&& other) noexcept {
    std::swap(text_, other.text_);
    return *this;
}

std::size_t kept_names() {
    const std::lock_guard lock(names().mutex);
    return names().holders.size();
}

std::vector<std::string> recent_launches() {
    std::vector<std::string> launches;
    const std::lock_guard lock(list_mutex);
    for (const LastLaunch* launch = first; launch != nullptr; launch = launch->next_) {
        if (const char* name = launch->name_.load(std::memory_order_acquire)) {
            launches.push_back(readable_name(name) + " on " + stream_text(launch->stream_));
        }
    }
    return launches;
}

} // namespace cuprum::detail
