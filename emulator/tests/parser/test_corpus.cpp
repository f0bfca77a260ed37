// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Sends compiler output through the parser and the printer: the PTX that NVRTC made of
// tests/corpus/*.cu during the build.

#include "ptx/printer.hpp"
#include "sample.hpp"
#include "tree_equality.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace cuprum::emulator::ptx {

namespace {

std::vector<std::filesystem::path> corpus() {
    std::vector<std::filesystem::path> files;
    if (std::filesystem::is_directory(CUPRUM_PTX_CORPUS)) {
        for (const auto& entry : std::filesystem::directory_iterator(CUPRUM_PTX_CORPUS)) {
            if (entry.path().extension() == ".ptx") {
                files.push_back(entry.path());
            }
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

TEST(ParserCorpus, compiler_output_parses_and_prints) {
    const std::vector<std::filesystem::path> files = corpus();
    if (files.empty()) {
        GTEST_SKIP() << "no NVRTC compiled the corpus";
    }
    for (const std::filesystem::path& path : files) {
        SCOPED_TRACE(path.string());
        const Module first = testing::parse_good(read(path));
        EXPECT_FALSE(first.functions.empty());
        const std::string text = to_text(first);
        EXPECT_TRUE(testing::are_same(first, testing::parse_good(text)));
    }
}

TEST(ParserCorpus, damaged_compiler_output_is_survived) {
    const std::vector<std::filesystem::path> files = corpus();
    if (files.empty()) {
        GTEST_SKIP() << "no NVRTC compiled the corpus";
    }
    // A few rounds of each keep the test to seconds.
    constexpr int ROUNDS = 10;
    std::mt19937 random(3);
    for (const std::filesystem::path& path : files) {
        const std::string original = read(path);
        for (int round = 0; round < ROUNDS; ++round) {
            std::string text = original;
            text[random() % text.size()] = static_cast<char>(random());
            text.resize(round % 2 == 0 ? text.size() : random() % text.size());
            Diagnostics diagnostics;
            const std::optional<Module> module = parse(std::move(text), diagnostics);
            EXPECT_EQ(module.has_value(), diagnostics.is_empty()) << path;
        }
    }
}

} // namespace cuprum::emulator::ptx
