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

/// Remembers that there is no driver: looking for one takes longer than all else that finding code
/// in a cache does.
class FailedSearch {
public:
    /// Tells whether a search would fail again: nothing was loaded, nothing else is asked for.
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
        return false; // compiling for elsewhere needs no driver
    } catch (const CUDAError&) {
        return false; // nor a device
    }
}

} // namespace cuprum::driver
