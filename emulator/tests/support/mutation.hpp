// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Damages PTX in ways that reach deep into its readers: not with noise, but with lines, words and
// numbers in wrong places.

#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::test {

/// Changes texts at random. The same seed gives the same changes.
class Mutator {
public:
    explicit Mutator(std::uint32_t seed) : random_(seed) {}

    /// Returns a text with one to four changes. `other` provides lines and words.
    [[nodiscard]] std::string operator()(std::string_view text, std::string_view other) {
        std::vector<std::string> lines = split(text);
        const std::vector<std::string> donors = split(other);
        for (std::uint32_t left = 1 + pick(4); left != 0 && !lines.empty(); --left) {
            change(lines, donors);
        }
        std::string result;
        for (const std::string& line : lines) {
            result += line;
            result += '\n';
        }
        return result;
    }

private:
    static std::vector<std::string> split(std::string_view text) {
        std::vector<std::string> lines;
        while (!text.empty()) {
            const std::size_t end = std::min(text.find('\n'), text.size());
            lines.emplace_back(text.substr(0, end));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        return lines;
    }

    [[nodiscard]] std::uint32_t pick(std::size_t count) {
        return static_cast<std::uint32_t>(random_() % std::max<std::size_t>(count, 1));
    }

    void change(std::vector<std::string>& lines, const std::vector<std::string>& donors) {
        const std::size_t at = pick(lines.size());
        std::string& line = lines[at];
        switch (pick(8)) {
        case 0:
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
            break;
        case 1:
            lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at),
                         donors[pick(donors.size())]);
            break;
        case 2:
            line = donors[pick(donors.size())];
            break;
        case 3:
            std::swap(line, lines[pick(lines.size())]);
            break;
        case 4:
            change_number(line);
            break;
        case 5:
            change_word(line, donors[pick(donors.size())]);
            break;
        case 6:
            if (!line.empty()) {
                line[pick(line.size())] = static_cast<char>(random_());
            }
            break;
        default:
            line.resize(pick(line.size() + 1));
            break;
        }
    }

    /// Replaces a number by one at the edge of some range.
    void change_number(std::string& line) {
        constexpr std::array<std::string_view, 12> NUMBERS{
            "0",          "-1",         "1",
            "4294967295", "4294967296", "18446744073709551615",
            "2147483648", "1000000",    "0x7fffffffffffffff",
            "65536",      "255",        "99999999999999999999999"};
        for (std::size_t i = pick(line.size()); i < line.size(); ++i) {
            if (std::isdigit(static_cast<unsigned char>(line[i])) != 0) {
                std::size_t end = i;
                while (end < line.size() &&
                       std::isalnum(static_cast<unsigned char>(line[end])) != 0) {
                    ++end;
                }
                line.replace(i, end - i, NUMBERS[pick(NUMBERS.size())]);
                return;
            }
        }
    }

    /// Replaces a piece of this line by a piece between two punctuation marks of another line.
    void change_word(std::string& line, std::string_view donor) {
        constexpr std::string_view MARKS = ". ,;[]{}\t";
        const std::size_t from = std::min<std::size_t>(pick(line.size() + 1), line.size());
        const std::size_t begin = std::min(line.find_first_not_of(MARKS, from), line.size());
        const std::size_t end = std::min(line.find_first_of(MARKS, begin), line.size());
        const std::size_t first =
            std::min(donor.find_first_not_of(MARKS, pick(donor.size() + 1)), donor.size());
        const std::size_t last = std::min(donor.find_first_of(MARKS, first), donor.size());
        line.replace(begin, end - begin, donor.substr(first, last - first));
    }

    std::mt19937 random_;
};

} // namespace cuprum::emulator::test
