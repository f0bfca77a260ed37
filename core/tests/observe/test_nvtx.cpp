// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checks NVTX ranges as a profiler sees them. nvtx_counter plays the profiler.

#include "support/device_test.hpp"

#include <cuprum/trace.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace cuprum {
namespace {

#ifdef CUPRUM_NVTX_COUNTER

const std::string RANGES =
    (std::filesystem::temp_directory_path() / ("nvtx_ranges_" + std::to_string(::getpid())))
        .string();

// Set these early: NVTX looks for a profiler at its first call, and Cuprum reads its variable at
// its first driver call.
const bool is_set_up = ::setenv("NVTX_INJECTION64_PATH", CUPRUM_NVTX_COUNTER, 1) == 0 &&
                       ::setenv("CUPRUM_NVTX_RANGES", RANGES.c_str(), 1) == 0 &&
                       ::setenv("CUPRUM_NVTX", "1", 1) == 0;

class NVTXTest : public testing::DeviceTest {
protected:
    void SetUp() override {
        ASSERT_TRUE(is_set_up);
        DeviceTest::SetUp();
        std::filesystem::remove(RANGES);
    }

    void TearDown() override {
        std::filesystem::remove(RANGES);
        DeviceTest::TearDown();
    }

    static std::vector<std::string> ranges() {
        std::ifstream file(RANGES);
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) {
            lines.push_back(line);
        }
        return lines;
    }
};

TEST_F(NVTXTest, a_consumer_sees_ranges_and_the_driver_calls_in_them) {
    {
        const TraceRange outer("outer");
        const TraceRange inner("inner");
        device().sync();
    }
    const std::vector<std::string> expected = {"push outer", "push inner", "push cuCtxSynchronize",
                                               "pop",        "pop",        "pop"};
    std::vector<std::string> seen = ranges();
    // Ignore calls that make a context current: they depend on what is current already.
    const auto is_about_contexts = [](const std::string& line) {
        return line.rfind("push cuCtx", 0) == 0 && line != "push cuCtxSynchronize";
    };
    for (auto at = seen.begin();
         (at = std::find_if(at, seen.end(), is_about_contexts)) != seen.end();) {
        at = seen.erase(at, at + 2);
    }
    EXPECT_EQ(seen, expected);
}

TEST_F(NVTXTest, every_push_has_its_pop_also_when_a_call_fails) {
    EXPECT_THROW(static_cast<void>(device().allocate(std::size_t{1} << 60U, stream())), CUDAError);
    const std::vector<std::string> seen = ranges();
    EXPECT_NE(std::find(seen.begin(), seen.end(), "push cuMemAllocFromPoolAsync"), seen.end());
    EXPECT_EQ(static_cast<std::size_t>(std::count(seen.begin(), seen.end(), "pop")) * 2,
              seen.size());
}

#else

TEST(NVTXTest, needs_the_headers_of_nvtx) {
    GTEST_SKIP() << "the CUDA headers of this build hold no nvtx3";
}

#endif

} // namespace
} // namespace cuprum
