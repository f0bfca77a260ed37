// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Allocates more than a device has. A driver takes all free memory before it fails, so other
// processes see a full device for a moment. No other test may run at the same time.

#include "support/driver_test.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace cuprum {

namespace {

class OutOfMemoryOnDriver : public testing::DriverTest {};

} // namespace

TEST_F(OutOfMemoryOnDriver, more_than_the_device_has_is_out_of_memory_and_the_pool_stays_usable) {
    const Stream stream = device().create_stream();
    const std::size_t total = device().memory_info().total_bytes;
    try {
        (void)device().allocate(2 * total, stream);
        FAIL();
    } catch (const OutOfMemoryError& error) {
        EXPECT_EQ(error.requested_bytes(), 2 * total);
        EXPECT_EQ(error.total_bytes(), total);
        EXPECT_NE(std::string(error.what()).find(std::to_string(2 * total) + " bytes"),
                  std::string::npos);
    }
    EXPECT_NE(device().allocate(256, stream).handle(), 0U);
    stream.sync();
}

} // namespace cuprum
