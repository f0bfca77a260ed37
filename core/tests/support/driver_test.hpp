// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/warning_log.hpp"

#include <cuprum/device.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace cuprum::testing {

/// Runs each test on the driver that CUPRUM_DRIVER names, emulated or a GPU. If the variable is not
/// set and there is no driver, the test is skipped. After the test, the current context must be
/// unchanged. On the emulated device, which counts them, as many driver objects must be alive as
/// before.
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

/// Returns the current context of this thread, or null.
[[nodiscard]] CUcontext current_context();

/// Returns the emulated driver's counts of live objects as text, or an empty text on a GPU.
[[nodiscard]] std::string live_objects();

} // namespace cuprum::testing
