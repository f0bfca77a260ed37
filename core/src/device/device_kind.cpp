// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_kind.hpp"

#include "driver/call.hpp"
#include "driver/library.hpp"
#include "support/never_destroyed.hpp"
#include "support/shared_library.hpp"

#include <cuprum/error.hpp>

#include <mutex>
#include <optional>
#include <string>

namespace cuprum::driver {

namespace {

/// Remembers that there is no driver. Searching for one takes longer than the rest of a lookup in a
/// program cache.
class FailedSearch {
public:
    /// Returns whether a search would fail again: no driver was loaded, and the settings are the
    /// same.
    [[nodiscard]] bool is_known() {
        const std::lock_guard lock(mutex_);
        return wish_.has_value() && !is_library_loaded() && *wish_ == current_wish();
    }

    void remember() {
        const std::lock_guard lock(mutex_);
        wish_ = current_wish();
    }

private:
    [[nodiscard]] static std::string current_wish() {
        using cuprum::detail::environment;
        return environment("CUPRUM_DRIVER") + '\n' + environment("CUPRUM_EMULATOR_LIBRARY");
    }

    std::mutex mutex_;
    std::optional<std::string> wish_;
};

} // namespace

bool is_device_emulated() {
    static cuprum::detail::NeverDestroyed<FailedSearch> failed; // objects may compile at exit
    if (failed->is_known()) {
        return false;
    }
    try {
        return is_emulated();
    } catch (const LibraryNotFoundError&) {
        failed->remember();
        return false; // compiling for another machine needs no driver
    } catch (const CUDAError&) {
        return false; // it needs no device either
    }
}

} // namespace cuprum::driver
