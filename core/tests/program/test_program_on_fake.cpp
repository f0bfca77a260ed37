// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A program whose driver is older or newer than the compiler. These tests need their own process,
// in which no real driver is loaded.

#include "support/fake_driver.hpp"

#include <cuprum/device.hpp>
#include <cuprum/program.hpp>

#include <gtest/gtest.h>

#include <string>

namespace cuprum {
namespace {

class ProgramOnFake : public testing::FakeDriverTest {
protected:
    /// Compiles to PTX and returns the warnings about the driver.
    std::string told() {
        static_cast<void>(Program("", {.arch = "sm_90"}).compile(CodeType::Ptx));
        std::string all;
        for (const std::string& warning : warnings.take(WarningKind::Degraded)) {
            all += warning;
        }
        return all;
    }
};

TEST_F(ProgramOnFake, ptx_that_a_driver_in_use_may_be_too_old_for_is_a_warning) {
    fake->version = 12000;
    EXPECT_EQ(told(), "") << "a driver that nobody uses is left alone";
    static_cast<void>(Device(0).create_stream());
    EXPECT_NE(told().find("driver for CUDA 12.0 may refuse"), std::string::npos);
    fake->version = 99000;
    EXPECT_EQ(told(), "");
}

} // namespace
} // namespace cuprum
