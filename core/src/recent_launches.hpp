// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What was in flight when work on a device failed. A failure shows in a later call, often on
// another stream; so every stream remembers the kernel it was last given, at the price of one store
// and one comparison per launch, and an error lists them. A stream comes on the list with its first
// launch: making and dropping one takes no lock.

#pragma once

#include "driver/table.hpp"

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// Remembers the kernel that was last launched on one stream.
class LastLaunch {
public:
    LastLaunch() = default;
    ~LastLaunch();
    LastLaunch(const LastLaunch&) = delete;
    LastLaunch& operator=(const LastLaunch&) = delete;

    /// Makes it one of those that recent_launches() lists, once there was a launch.
    void watch(CUstream stream) noexcept {
        stream_ = stream;
        place_.store(Place::Watched, std::memory_order_relaxed);
    }

    /// Remembers a kernel. `name` must come from permanent_name().
    void note(const char* name) const noexcept {
        name_.store(name, std::memory_order_relaxed);
        if (place_.load(std::memory_order_relaxed) == Place::Watched) [[unlikely]] {
            list();
        }
    }

private:
    friend std::vector<std::string> recent_launches();

    enum class Place : unsigned char { Nowhere, Watched, Listed };

    void list() const noexcept;

    mutable std::atomic<const char*> name_{nullptr};
    mutable std::atomic<Place> place_{Place::Nowhere};
    CUstream stream_ = nullptr;
    mutable const LastLaunch* previous_ = nullptr; // the list's
    mutable const LastLaunch* next_ = nullptr;
};

/// Returns a name that lives as long as the process, the same one for equal texts.
[[nodiscard]] const char* permanent_name(std::string_view name);

/// Returns the kernel last launched on each listed stream, "name on stream 0x...".
[[nodiscard]] std::vector<std::string> recent_launches();

} // namespace cuprum::detail
