// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/devices/device.hpp"
#include "objects/devices/identity.hpp"
#include "objects/process/origin.hpp"
#include "objects/process/settings.hpp"

#include <cuda.h>

#include <atomic>
#include <memory>
#include <vector>

namespace cuprum::emulator {

/// The whole emulated driver: the devices, and whether it may be used.
class Driver {
public:
    /// Returns the process's driver; never destroyed.
    [[nodiscard]] static Driver& instance();

    /// Reads the settings and creates the devices. Calling it again has no effect.
    ///
    /// @throws DriverError INVALID_VALUE if a setting is invalid. The log names it.
    void initialize();

    /// Returns whether this process was forked from the one that initialised the driver. In such a
    /// child, locks may be held by threads that do not exist there.
    [[nodiscard]] bool is_forked() const noexcept {
        return state_.load(std::memory_order_acquire) == State::Forked;
    }

    /// Throws if calls are not allowed: NOT_INITIALIZED, DEINITIALIZED while the process exits, or
    /// NOT_PERMITTED in a host function. Waits while calls are held back. Call it
    /// under a CallGate::Pass.
    void check_usable() const {
        if (state_.load(std::memory_order_acquire) != State::Ready || HostCallScope::is_inside())
            [[unlikely]] {
            wait_or_refuse();
        }
    }

    /// As check_usable(), but also allows calls while they are held back: for those that act on
    /// the lock itself.
    void check_initialized() const;

    /// Holds back calls from now on; false if they are held back already. Those that are inside
    /// stay there, see CallGate.
    bool hold_calls() noexcept;

    /// Lets calls continue.
    void resume_calls() noexcept;

    [[nodiscard]] int device_count() const noexcept { return static_cast<int>(devices_.size()); }

    /// Returns how many devices the machine has, with those that CUDA_VISIBLE_DEVICES hides.
    [[nodiscard]] int unit_count() const noexcept { return unit_count_; }

    /// Returns a device. Throws INVALID_DEVICE.
    [[nodiscard]] Device& device(CUdevice ordinal) const;

    /// Returns the device that is a unit of the machine. Throws INVALID_DEVICE.
    [[nodiscard]] Device& device_of_unit(int unit) const;

private:
    enum class State : std::uint8_t { Fresh, Ready, Locked, Leaving, Forked };

    Driver() = default;

    void wait_or_refuse() const;
    [[noreturn]] void refuse() const;
    static void leave() noexcept;

    std::atomic<State> state_{State::Fresh};
    std::vector<std::unique_ptr<Device>> devices_;
    int unit_count_ = 0;
    bool lists_leaks_ = false; // when the process exits
};

/// Returns a device of the process's driver. Throws INVALID_DEVICE.
[[nodiscard]] inline Device& device_at(CUdevice ordinal) {
    return Driver::instance().device(ordinal);
}

} // namespace cuprum::emulator
