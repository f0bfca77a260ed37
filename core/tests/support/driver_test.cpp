// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/driver_test.hpp"

#include "driver/call.hpp"
#include "driver/library.hpp"

#include <cuprum/context.hpp>
#include <cuprum/memory_resource.hpp>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <exception>

namespace cuprum::testing {

namespace {

/// The counts of the emulated driver.
/// NOTE: must match CuprumLiveCounts in cuprum_emulator.h. That header is not included, because the
/// core uses only the driver API of the emulator.
struct LiveCounts {
    std::size_t struct_size = sizeof(LiveCounts);
    std::array<std::size_t, 11> counts{}; // contexts, streams, events, allocations...
};

} // namespace

void DriverTest::SetUp() {
    try {
        device_ = Device(0);
    } catch (const std::exception& error) {
        if (std::getenv("CUPRUM_DRIVER") == nullptr) {
            GTEST_SKIP() << "no device: " << error.what();
        }
        FAIL() << error.what();
    }
    // Create what is created once and kept: the primary context, and the wrapped pool.
    (void)device_->primary_context();
    (void)device_->memory_resource();
    (void)warnings.take(WarningKind::EmulatedDevice);
    current_ = current_context();
    live_ = live_objects();
}

void DriverTest::TearDown() {
    if (!device_) {
        return;
    }
    EXPECT_EQ(current_context(), current_) << "the test changed the current context";
    device_->sync(); // frees are ordered on streams
    EXPECT_EQ(live_objects(), live_) << "the test left driver objects alive";
    EXPECT_EQ(warnings.take(WarningKind::Release), std::vector<std::string>{});
}

CUcontext current_context() {
    const auto context = Context::current();
    return context ? context->handle() : nullptr;
}

std::string live_objects() {
    if (!driver::is_emulated()) {
        return {};
    }
    const auto count = reinterpret_cast<int (*)(LiveCounts*)>(
        driver::driver_library().library.find("cuprumEmulatorLiveObjects"));
    LiveCounts live;
    if (count == nullptr || count(&live) != 0) {
        ADD_FAILURE() << "the emulated driver does not count as this test expects";
    }
    std::string text;
    for (const std::size_t number : live.counts) {
        text += std::to_string(number) + " ";
    }
    return text;
}

} // namespace cuprum::testing
