// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace cuprum::testing {

/// Checks that `action` throws an Exception whose text contains every part.
template <typename Exception, typename Action>
void expect_error(const Action& action, std::initializer_list<std::string_view> parts) {
    try {
        action();
    } catch (const Exception& error) {
        const std::string text = error.what();
        for (const std::string_view part : parts) {
            EXPECT_NE(text.find(part), std::string::npos)
                << "\"" << part << "\" is not in: " << text;
        }
        return;
    }
    ADD_FAILURE() << "nothing was thrown";
}

} // namespace cuprum::testing
