// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "gl/headless.hpp"
#include "support/device_test.hpp"

#include <cuprum/context.hpp>

#include <optional>
#include <stdexcept>
#include <string>

namespace cuprum::testing {

/// Runs each test with a context of OpenGL current, on the device of the tests. Skips if this
/// machine has no OpenGL that the device can share memory with.
class GLTest : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (IsSkipped() || HasFatalFailure()) {
            return;
        }
        try {
            gl_.emplace();
        } catch (const std::runtime_error& error) {
            GTEST_SKIP() << error.what();
        }
        const auto* const text =
            gl_->call<const unsigned char*(unsigned)>("glGetString", gl::VENDOR);
        const std::string vendor = reinterpret_cast<const char*>(text);
        if (!device().is_emulated() && vendor.find("NVIDIA") == std::string::npos) {
            GTEST_SKIP() << "OpenGL is that of " << vendor << ", not of the GPU";
        }
    }

    void TearDown() override {
        if (gl_) {
            EXPECT_EQ(gl_->error(), 0U) << "an error of OpenGL is pending";
        }
        gl_.reset();
        DeviceTest::TearDown();
    }

    [[nodiscard]] const gl::Headless& gl() const { return *gl_; }

    [[nodiscard]] Context context() const { return device().primary_context(); }

private:
    std::optional<gl::Headless> gl_;
};

} // namespace cuprum::testing
