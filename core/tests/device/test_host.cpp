// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/expect_error.hpp"

#include <cuprum/host.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace cuprum {

TEST(Host, names_the_whole_host_a_node_or_the_threads_node) {
    EXPECT_EQ(Host().numa_id(), std::nullopt);
    EXPECT_FALSE(Host().is_numa_current());
    EXPECT_EQ(Host(3).numa_id(), 3);
    EXPECT_FALSE(Host(3).is_numa_current());
    EXPECT_EQ(Host::numa_current().numa_id(), std::nullopt);
    EXPECT_TRUE(Host::numa_current().is_numa_current());
}

TEST(Host, equality_is_that_of_the_place) {
    EXPECT_EQ(Host(1), Host(1));
    EXPECT_NE(Host(1), Host(0));
    EXPECT_NE(Host(0), Host());
    EXPECT_NE(Host::numa_current(), Host());
}

TEST(Host, negative_node_is_refused) {
    testing::expect_error<std::invalid_argument>([] { (void)Host(-1); },
                                                 {"numa_id", "non-negative", "-1"});
}

} // namespace cuprum
