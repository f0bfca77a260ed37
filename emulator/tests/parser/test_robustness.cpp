// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Parses damaged text. The parser must terminate, stay in bounds, and return an error message or a
// tree that prints and reads back. Run this with sanitizers too.

#include "ptx/printer.hpp"
#include "sample.hpp"
#include "tree_equality.hpp"

#include <random>

namespace cuprum::emulator::ptx {

using testing::SAMPLE;

namespace {

/// Parses any text and returns whether it was accepted.
bool survives(std::string text) {
    Diagnostics diagnostics;
    const std::optional<Module> module = parse(std::move(text), diagnostics);
    EXPECT_EQ(module.has_value(), diagnostics.is_empty());
    EXPECT_LE(diagnostics.items().size(), Diagnostics::MAX_COUNT);
    if (module) {
        const std::string printed = to_text(*module);
        Diagnostics again;
        const std::optional<Module> reparsed = parse(printed, again);
        EXPECT_TRUE(reparsed && testing::are_same(*module, *reparsed))
            << again.to_text() << printed;
    }
    return module.has_value();
}

} // namespace

TEST(ParserRobustness, truncation_at_every_byte) {
    std::size_t sound = 0;
    for (std::size_t size = 0; size <= SAMPLE.size(); ++size) {
        sound += survives(std::string(SAMPLE.substr(0, size))) ? 1 : 0;
    }
    EXPECT_GT(sound, 0u);
    EXPECT_LT(sound, SAMPLE.size() / 2);
}

TEST(ParserRobustness, a_start_at_every_byte) {
    const std::string head = std::string(testing::HEAD) + ".entry k() {\n";
    for (std::size_t start = 0; start < SAMPLE.size(); ++start) {
        survives(head + std::string(SAMPLE.substr(start)));
    }
}

TEST(ParserRobustness, flipped_bytes) {
    std::mt19937 random(20260101);
    for (int round = 0; round < 4000; ++round) {
        std::string text(SAMPLE);
        for (std::uint32_t flips = 1 + random() % 4; flips != 0; --flips) {
            text[random() % text.size()] = static_cast<char>(random());
        }
        survives(std::move(text));
    }
}

TEST(ParserRobustness, pieces_moved_about) {
    // Pieces of the text itself in wrong places reach more of the parser than noise.
    std::mt19937 random(7);
    for (int round = 0; round < 4000; ++round) {
        std::string text(SAMPLE);
        for (std::uint32_t moves = 1 + random() % 3; moves != 0; --moves) {
            const std::string piece(SAMPLE.substr(random() % SAMPLE.size(), random() % 40));
            text.replace(random() % text.size(), random() % 20, piece);
        }
        survives(std::move(text));
    }
}

TEST(ParserRobustness, changed_punctuation) {
    constexpr std::string_view MARKS = "{}()[]<>,;:|!@%.+-*/?=&~^\"\\#$_\n\0 09xXfFdDeEU";
    std::mt19937 random(11);
    for (int round = 0; round < 4000; ++round) {
        std::string text(SAMPLE);
        text.insert(random() % text.size(), 1, MARKS[random() % MARKS.size()]);
        text.erase(random() % text.size(), random() % 3);
        survives(std::move(text));
    }
}

} // namespace cuprum::emulator::ptx
