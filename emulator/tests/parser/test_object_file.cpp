// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "image/object_file.hpp"
#include "support/object_files.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

using namespace test;
using Bytes = std::span<const unsigned char>;

Bytes bytes_of(const std::string& text) {
    return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

std::vector<std::string> found_in(const std::string& file) {
    std::vector<std::string> result;
    for (const Bytes each : find_fatbins(bytes_of(file))) {
        result.emplace_back(reinterpret_cast<const char*>(each.data()), each.size());
    }
    return result;
}

} // namespace

TEST(ObjectFile, fatbins_are_found_in_sections_of_nvcc) {
    const std::string first = make_fatbin("one     ");
    const std::string second = make_fatbin("two     ");
    const std::string padding(8, '\0');
    const std::string object = make_elf({{".text", "host code"},
                                         {".nv_fatbin", first + padding + second},
                                         {"__nv_relfatbin", second + make_fatbin("")},
                                         {".nv_fatbinary", first}});
    EXPECT_TRUE(is_object_file(bytes_of(object)));
    EXPECT_EQ(found_in(object), (std::vector{first, second, second}));
}

TEST(ObjectFile, archives_are_searched_member_by_member) {
    const std::string first = make_fatbin("one     ");
    const std::string second = make_fatbin("two     ");
    const std::string archive =
        make_archive({"a table of symbols", make_elf({{"__nv_relfatbin", first}}), "odd",
                      make_elf({{".nv_fatbin", second}})});
    EXPECT_TRUE(is_object_file(bytes_of(archive)));
    EXPECT_EQ(found_in(archive), (std::vector{first, second}));
}

TEST(ObjectFile, other_files_are_none) {
    constexpr std::uint16_t cuda = 190;
    for (const std::string& file :
         {std::string("PTX"), make_fatbin("one     "), make_elf({{".nv_fatbin", "x"}}, cuda),
          std::string("\x7f"
                      "ELF")}) {
        EXPECT_FALSE(is_object_file(bytes_of(file)));
        EXPECT_TRUE(found_in(file).empty());
    }
    EXPECT_TRUE(found_in(make_elf({{".text", "host code"}})).empty());
}

TEST(ObjectFile, damaged_files_are_never_read_beyond_their_end) {
    const std::string object = make_elf({{".nv_fatbin", make_fatbin("one     ")}});
    const std::string archive = make_archive({object, object});
    std::mt19937 random(7);
    for (const std::string& file : {object, archive}) {
        for (std::size_t size = 0; size < file.size(); size += 3) {
            const std::vector<unsigned char> cut(file.begin(),
                                                 file.begin() + static_cast<std::ptrdiff_t>(size));
            EXPECT_LE(find_fatbins(cut).size(), 2U);
        }
        for (int round = 0; round < 2000; ++round) {
            std::vector<unsigned char> changed(file.begin(), file.end());
            for (int change = 0; change < 4; ++change) {
                changed[random() % changed.size()] = static_cast<unsigned char>(random());
            }
            for (const Bytes each : find_fatbins(changed)) {
                ASSERT_GE(each.data(), changed.data());
                ASSERT_LE(each.data() + each.size(), changed.data() + changed.size());
            }
        }
    }
}

} // namespace cuprum::emulator
