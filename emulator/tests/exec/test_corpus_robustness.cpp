// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads damaged compiler output. Loading must end, with kernels or with an error message, and must
// not use more memory than the text requires. Run this with sanitizers too; `make fuzz` does the
// same for longer.

#include "exec/harness.hpp"
#include "support/mutation.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/resource.h>

namespace cuprum::emulator {

namespace {

constexpr std::uint32_t NEWEST_SM = 120;
constexpr std::size_t MAX_TEXT_BYTES = 24 * 1024; // larger texts take longer and find no more

std::vector<std::string> corpus() {
    std::vector<std::string> texts;
    if (std::filesystem::is_directory(CUPRUM_PTX_CORPUS)) {
        std::vector<std::filesystem::path> paths;
        for (const auto& entry : std::filesystem::directory_iterator(CUPRUM_PTX_CORPUS)) {
            if (entry.file_size() <= MAX_TEXT_BYTES) {
                paths.push_back(entry.path());
            }
        }
        std::sort(paths.begin(), paths.end());
        for (const auto& path : paths) {
            std::ifstream file(path, std::ios::binary);
            texts.emplace_back(std::istreambuf_iterator<char>(file),
                               std::istreambuf_iterator<char>());
        }
    }
    return texts;
}

/// Loads a text as far as possible. Returns whether all of it was accepted.
bool load(const std::string& text, const MemoryMap& memory) {
    ptx::Diagnostics diagnostics;
    const auto module = ptx::parse(text, diagnostics);
    EXPECT_EQ(module.has_value(), diagnostics.is_empty());
    if (!module) {
        return false;
    }
    passes::CompileOptions options;
    options.memory = &memory;
    options.device_sm = NEWEST_SM;
    for (const auto& variable :
         passes::global_variables(*module, memory.memory_bytes, diagnostics)) {
        options.symbols.insert(variable.name);
    }
    if (!diagnostics.is_empty()) {
        return false;
    }
    const auto kernels = passes::compile(*module, options, diagnostics);
    EXPECT_TRUE(kernels.empty() || diagnostics.is_empty());
    EXPECT_LE(diagnostics.items().size(), ptx::Diagnostics::MAX_COUNT);
    return diagnostics.is_empty();
}

int number_from(const char* variable, int fallback) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? fallback : std::atoi(text);
}

long peak_kilobytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

TEST(LoaderRobustness, damaged_compiler_output_is_survived) {
    const std::vector<std::string> texts = corpus();
    if (texts.empty()) {
        GTEST_SKIP() << "no NVRTC compiled the corpus";
    }
    // CUPRUM_FUZZ_ROUNDS and CUPRUM_FUZZ_SEED change the length and the random numbers.
    const int rounds = number_from("CUPRUM_FUZZ_ROUNDS", 1500);
    const int seed = number_from("CUPRUM_FUZZ_SEED", 20260301);
    constexpr auto MAX_TIME_PER_TEXT = std::chrono::seconds(5);
    constexpr long MAX_KILOBYTES = 1024 * 1024;
    test::TestDevice device;
    test::Mutator mutate(static_cast<std::uint32_t>(seed));
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    int taken = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::string text =
            mutate(texts[random() % texts.size()], texts[random() % texts.size()]);
        const auto begin = std::chrono::steady_clock::now();
        taken += load(text, device.map()) ? 1 : 0;
        ASSERT_LT(std::chrono::steady_clock::now() - begin, MAX_TIME_PER_TEXT) << text;
    }
    // Some texts must be accepted and some refused, or the changes are of the wrong kind.
    EXPECT_GT(taken, rounds / 50);
    EXPECT_LT(taken, rounds * 9 / 10);
    EXPECT_LT(peak_kilobytes(), MAX_KILOBYTES);
}

TEST(LoaderRobustness, sizes_beyond_all_bounds_are_refused) {
    test::TestDevice device;
    const auto complaint_about = [&](const std::string& body) {
        EXPECT_EQ(device.compile(test::ptx_module(body)), nullptr) << body;
        return device.log;
    };
    const std::string use = "ld.volatile.local.u32 %r0, [a];\n";
    const std::string kernel_start = ".visible .entry k()\n{\n.reg .b32 %r<4>;\n";
    EXPECT_NE(complaint_about(kernel_start + ".local .b8 a[99999999999];\n" + use + "ret;\n}\n"),
              "");
    EXPECT_NE(complaint_about(kernel_start + ".shared .b8 a[99999999999];\n" + use + "ret;\n}\n"),
              "");
    EXPECT_NE(complaint_about(".visible .entry k()\n{\n.reg .b32 %r<99999999999>;\nret;\n}\n"), "");
    EXPECT_NE(complaint_about(".visible .entry k(.param .b8 p[99999999999])\n{\nret;\n}\n"), "");
}

TEST(LoaderRobustness, functions_that_call_each_other_twice_do_not_grow_without_bounds) {
    // If they were inlined, thirty levels of two calls each would become a billion instructions.
    std::string text;
    text +=
        ".func f0()\n{\n.reg .b32 %r;\nmov.u32 %r, 1;\nst.volatile.global.u32 [x], %r;\nret;\n}\n";
    for (int i = 1; i <= 30; ++i) {
        const std::string callee = "f" + std::to_string(i - 1);
        text += ".func f" + std::to_string(i) + "()\n{\ncall " + callee + ";\ncall " + callee +
                ";\nret;\n}\n";
    }
    test::TestDevice device;
    const auto begin = std::chrono::steady_clock::now();
    const auto kernel = device.compile(test::ptx_module(
        ".global .u32 x;\n" + text + ".visible .entry k()\n{\ncall f30;\nret;\n}\n"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    if (kernel == nullptr) {
        EXPECT_NE(device.log, "");
    }
}

} // namespace

} // namespace cuprum::emulator
