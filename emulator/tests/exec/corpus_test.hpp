// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "exec/harness.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace cuprum::emulator::test {

/// Runs kernels of one source of the corpus, which NVRTC compiled during the build. If NVRTC was
/// not available, the test is skipped.
class CorpusTest : public testing::Test {
protected:
    /// Takes the name of the source without its suffix.
    explicit CorpusTest(std::string source) : prefix_(std::move(source) + ".") {}

    /// Calls `check` once for each text of the corpus, after loading it.
    template <typename Check>
    void for_each_text(Check check) {
        int count = 0;
        if (std::filesystem::is_directory(CUPRUM_PTX_CORPUS)) {
            for (const auto& entry : std::filesystem::directory_iterator(CUPRUM_PTX_CORPUS)) {
                const std::string name = entry.path().filename().string();
                if (!name.starts_with(prefix_) || entry.path().extension() != ".ptx") {
                    continue;
                }
                SCOPED_TRACE(name);
                std::ifstream file(entry.path(), std::ios::binary);
                text_.assign(std::istreambuf_iterator<char>(file), {});
                TestDevice device;
                check(device);
                ++count;
            }
        }
        if (count == 0) {
            GTEST_SKIP() << "no NVRTC compiled " << prefix_ << "cu";
        }
    }

    template <typename... Args>
    void run(TestDevice& device, const char* name, Shape shape, Args... args) {
        const auto kernel = device.compile(text_, NEWEST_SM, name);
        ASSERT_NE(kernel, nullptr) << device.log;
        ASSERT_EQ(kernel->name, name);
        const Fault fault = Launch(device, kernel, shape, args...).wait();
        EXPECT_EQ(fault.kind, FaultKind::None) << fault.report;
    }

    /// Returns the text that `for_each_text` has loaded.
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    static constexpr std::uint32_t NEWEST_SM = 120;

    std::string prefix_;
    std::string text_;
};

} // namespace cuprum::emulator::test
