// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/trace.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace cuprum::testing {

/// Gives a fixture a trace in its own file. TearDown ends the trace and removes the file.
template <typename Test>
class Traced : public Test {
protected:
    static std::string path() {
        return (std::filesystem::path(::testing::TempDir()) /
                (std::string("trace_") +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json"))
            .string();
    }

    void TearDown() override {
        stop_trace();
        std::filesystem::remove(path());
        Test::TearDown();
    }

    /// Returns the content of the file.
    static std::string text() {
        std::ifstream file(path());
        std::stringstream all;
        all << file.rdbuf();
        return all.str();
    }

    /// Counts the events of a category.
    static int count(const std::string& text, const std::string& category) {
        const std::string wanted = "\"cat\": \"" + category + "\"";
        int found = 0;
        for (std::size_t at = text.find(wanted); at != std::string::npos;
             at = text.find(wanted, at + 1)) {
            ++found;
        }
        return found;
    }

    /// Ends the trace and counts its events of a category.
    static int ended_with(const std::string& category) {
        stop_trace();
        return count(text(), category);
    }
};

} // namespace cuprum::testing
