// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/warning_log.hpp"

#include <cuprum/device.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace cuprum::testing {

/// Runs each test on the driver that CUPRUM_DRIVER names, emulated or a GPU; skips when there is
/// none and none was asked for. After the test the current context must be what it was, and on the
/// emulated device, which can count, as many driver objects must be alive as before.
class DriverTest : public ::testing::Test {
protected:
    void SetUp() override;
    void TearDown() override;

    [[nodiscard]] Device device() const { return *device_; }

    WarningLog warnings;

private:
    std::optional<Device> device_;
    CUcontext current_ = nullptr;
    std::string live_;
};

/// Returns what is current on this thread, or null.
[[nodiscard]] CUcontext current_context();

/// Returns the emulated driver's account of what is alive, empty on a GPU.
[[nodiscard]] std::string live_objects();

} // namespace cuprum::testing
