// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/once.hpp"

#include <gtest/gtest.h>

#include <string>

namespace cuprum::detail {

namespace {

struct Noted {
    explicit Noted(std::string& log) : log_(log) { log_ += "made "; }

    ~Noted() { log_ += "destroyed "; }

    Noted(const Noted&) = delete;
    Noted& operator=(const Noted&) = delete;

    std::string& log_;
    int value = 7;
};

} // namespace

TEST(NeverDestroyed, constructs_its_value_and_does_not_destroy_it) {
    std::string log;
    {
        NeverDestroyed<Noted> noted(log);
        EXPECT_EQ(noted->value, 7);
        (*noted).value = 8;
        EXPECT_EQ(noted->value, 8);
    }
    EXPECT_EQ(log, "made ");
}

TEST(NeverDestroyed, an_exception_of_the_constructor_gets_through) {
    struct Throws {
        Throws() { throw std::string("no"); }
    };

    EXPECT_THROW(NeverDestroyed<Throws>(), std::string);
}

} // namespace cuprum::detail
