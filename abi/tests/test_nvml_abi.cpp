// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "table.hpp"

#include <gtest/gtest.h>

TEST(NVMLABI, agrees_with_the_header_of_nvidia) {
    const std::vector<Fact> ours = our_facts();
    const std::vector<Fact> theirs = nvidia_facts();
    ASSERT_EQ(ours.size(), theirs.size());
    ASSERT_GT(ours.size(), 1000U);
    for (std::size_t index = 0; index < ours.size(); ++index) {
        EXPECT_EQ(ours[index].meaning, theirs[index].meaning) << ours[index].name;
    }
}
