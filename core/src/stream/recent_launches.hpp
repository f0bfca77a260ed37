// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What was in flight when work on a device failed. A failure shows in a later call, often on
// another stream. So every stream remembers the kernel that was last launched on it, and an error
// lists these kernels. This costs one store and one comparison per launch. A stream joins the list
// with its first launch, so that creating and dropping a stream takes no lock.

#pragma once

#include "driver/table.hpp"

#include <atomic>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// Holds a kernel's name for streams that remember a launch of it. Equal names share one text. The
/// text lives as long as a holder has it or a listed stream shows it. Other texts are removed from
/// time to time.
class LaunchName {
public:
    LaunchName() = default;
    explicit LaunchName(std::string_view name);
    ~LaunchName();
    LaunchName(const LaunchName&) = delete;
    LaunchName& operator=(const LaunchName&) = delete;
    LaunchName& operator=(LaunchName&& other) noexcept;

    [[nodiscard]] const char* get() const noexcept { return text_; }

private:
    const char* text_ = nullptr;
};

/// Remembers the kernel that was last launched on one stream.
class LastLaunch {
public:
    LastLaunch() = default;
    ~LastLaunch();
    LastLaunch(const LastLaunch&) = delete;
    LastLaunch& operator=(const LastLaunch&) = delete;

    /// Makes recent_launches() list this stream after its first launch.
    void watch(CUstream stream) noexcept {
        stream_ = stream;
        place_.store(Place::Watched, std::memory_order_relaxed);
    }

    /// Remembers a kernel. The caller's LaunchName must outlive this call.
    void note(const LaunchName& name) const noexcept {
        name_.store(name.get(), std::memory_order_release); // with the text
        if (place_.load(std::memory_order_relaxed) == Place::Watched) [[unlikely]] {
            list();
        }
    }

private:
    friend std::vector<std::string> recent_launches();
    friend std::set<const char*> shown_names();

    enum class Place : unsigned char { Nowhere, Watched, Listed };

    void list() const noexcept;

    mutable std::atomic<const char*> name_{nullptr};
    mutable std::atomic<Place> place_{Place::Nowhere};
    CUstream stream_ = nullptr;
    mutable const LastLaunch* previous_ = nullptr; // the list's
    mutable const LastLaunch* next_ = nullptr;
};

/// Returns how many names are kept now, for tests.
[[nodiscard]] std::size_t kept_names();

/// Returns the kernel last launched on each listed stream, "name on stream 0x...".
[[nodiscard]] std::vector<std::string> recent_launches();

} // namespace cuprum::detail
