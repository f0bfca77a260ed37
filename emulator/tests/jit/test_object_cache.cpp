// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compiled kernels in files: what is found again, and what is refused.

#include "jit/graph_test.hpp"
#include "jit/object_cache.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;
using namespace cuprum::emulator;
using jit::Object;
using jit::ObjectCache;

/// A digest that is good enough for tests.
jit::Digest digest(std::string_view bytes) {
    jit::Digest result{};
    for (std::size_t i = 0; i < result.size(); ++i) {
        std::uint64_t hash = 0xcbf29ce484222325u + i;
        for (const char byte : bytes) {
            hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3u;
        }
        result[i] = static_cast<std::uint8_t>(hash >> 32);
    }
    return result;
}

Object example(std::size_t code_bytes = 1000) {
    Object object;
    object.code.assign(code_bytes, std::byte{0x90});
    object.entries = {{.pc = 0, .waiting = {}, .linear_slots = {64}},
                      {.pc = 7, .waiting = {9, 11}, .linear_slots = {}}};
    object.lanes = 32;
    object.site_count = 5;
    object.flushes = true;
    return object;
}

class ObjectCacheTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::canonical(testing::TempDir()) /
                  ("cuprum_objects_" +
                   std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
        fs::remove_all(folder_);
    }

    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] ObjectCache open(std::uint64_t max_bytes = ObjectCache::MAX_BYTES) const {
        return {folder_ / "kernels", digest, max_bytes};
    }

    [[nodiscard]] std::vector<fs::path> files() const {
        std::vector<fs::path> found;
        for (const auto& each : fs::directory_iterator(folder_ / "kernels")) {
            found.push_back(each.path());
        }
        return found;
    }

    fs::path folder_;
};

/// Expects that a cache does not use its only file, says so once, and works again afterwards.
void expect_refused(ObjectCache& cache, const std::string& reason) {
    std::string note;
    EXPECT_FALSE(cache.load("key", note).has_value());
    EXPECT_NE(note.find(reason), std::string::npos) << note;
    note.clear();
    EXPECT_FALSE(cache.load("key", note).has_value());
    EXPECT_EQ(note, "");
    EXPECT_EQ(cache.store("key", example()), "");
    EXPECT_TRUE(cache.load("key", note).has_value());
}

constexpr const char* KERNEL = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 data) {
    .reg .b32 %r<3>;
    .reg .b64 %a;
    ld.param.u64 %a, [data];
    mov.u32 %r0, %tid.x;
    add.u32 %r1, %r0, 5;
    st.global.u32 [%a], %r1;
    ret;
}
)";

std::string key_of(std::string text, const char* level = "isa_v3", std::uint32_t lanes = 16) {
    std::string log;
    const auto kernels = test::compile_for_graph(text, log);
    EXPECT_EQ(kernels.size(), 1U) << log;
    return jit::key_of({.kernel = kernels.at(0).get(), .shape = {.lanes = lanes}, .level = level},
                       "build");
}

} // namespace

TEST_F(ObjectCacheTest, another_process_finds_what_was_stored) {
    ASSERT_EQ(open().store("key", example()), "");
    std::string note;
    const auto found = open().load("key", note);
    ASSERT_TRUE(found.has_value()) << note;
    const Object wanted = example();
    EXPECT_EQ(found->code, wanted.code);
    EXPECT_EQ(found->lanes, wanted.lanes);
    EXPECT_EQ(found->site_count, wanted.site_count);
    EXPECT_EQ(found->flushes, wanted.flushes);
    ASSERT_EQ(found->entries.size(), 2U);
    EXPECT_EQ(found->entries[1].pc, 7U);
    EXPECT_EQ(found->entries[1].waiting, wanted.entries[1].waiting);
    EXPECT_EQ(found->entries[0].linear_slots, wanted.entries[0].linear_slots);
    EXPECT_FALSE(open().load("another key", note).has_value());
    EXPECT_EQ(note, "");
}

TEST_F(ObjectCacheTest, what_it_makes_is_private_to_the_user) {
    ASSERT_EQ(open().store("key", example()), "");
    const fs::perms others = fs::perms::group_all | fs::perms::others_all;
    EXPECT_EQ(fs::status(folder_ / "kernels").permissions() & others, fs::perms::none);
    ASSERT_EQ(files().size(), 1U);
    EXPECT_EQ(fs::status(files()[0]).permissions() & others, fs::perms::none);
}

TEST_F(ObjectCacheTest, damage_anywhere_is_noticed) {
    ASSERT_EQ(open().store("key", example()), "");
    std::ifstream input(files().at(0), std::ios::binary);
    const std::string intact{std::istreambuf_iterator<char>(input), {}};
    ObjectCache cache = open();
    for (std::size_t at = 0; at < intact.size(); at += 61) {
        std::string damaged = intact;
        damaged[at] = static_cast<char>(damaged[at] ^ 4);
        std::ofstream(files().at(0), std::ios::binary) << damaged;
        expect_refused(cache, "damaged");
    }
    for (const std::size_t length : {std::size_t{0}, std::size_t{20}, intact.size() - 1}) {
        std::ofstream(files().at(0), std::ios::binary) << intact.substr(0, length);
        expect_refused(cache, "damaged");
    }
}

TEST_F(ObjectCacheTest, a_file_of_another_kernel_is_not_taken_for_this_one) {
    ASSERT_EQ(open().store("key", example()), "");
    const fs::path mine = files().at(0);
    ASSERT_EQ(open().store("another key", example(10)), "");
    for (const fs::path& each : files()) {
        if (each != mine) {
            fs::rename(each, mine);
        }
    }
    ObjectCache cache = open();
    expect_refused(cache, "damaged");
}

TEST_F(ObjectCacheTest, files_that_others_can_write_and_links_are_refused) {
    ObjectCache cache = open();
    ASSERT_EQ(cache.store("key", example()), "");
    fs::permissions(files().at(0), fs::perms::group_write, fs::perm_options::add);
    expect_refused(cache, "only this user can write");
    const fs::path file = files().at(0);
    fs::rename(file, folder_ / "elsewhere");
    fs::create_symlink(folder_ / "elsewhere", file);
    std::string note;
    EXPECT_FALSE(cache.load("key", note).has_value());
    EXPECT_NE(note, "");
}

TEST_F(ObjectCacheTest, a_folder_that_others_can_enter_is_refused) {
    fs::create_directories(folder_ / "kernels");
    fs::permissions(folder_ / "kernels", fs::perms::owner_all | fs::perms::group_exec);
    const ObjectCache cache = open();
    EXPECT_NE(cache.problem().find("is open to other users"), std::string::npos);
    EXPECT_NE(cache.problem().find("CUPRUM_EMULATOR_JIT_CACHE"), std::string::npos);
}

TEST_F(ObjectCacheTest, its_size_is_bounded_and_what_was_used_last_stays) {
    ObjectCache cache = open(20'000);
    ASSERT_EQ(cache.store("first", example(4000)), "");
    const fs::path first = files().at(0);
    std::string note;
    for (int i = 0; i < 12; ++i) {
        // Older than what follows, except for the first one, which is used again each time.
        for (const fs::path& each : files()) {
            fs::last_write_time(each, fs::last_write_time(each) - std::chrono::hours(1));
        }
        EXPECT_TRUE(cache.load("first", note).has_value()) << i;
        ASSERT_EQ(cache.store("key " + std::to_string(i), example(4000)), "");
        std::uintmax_t bytes = 0;
        for (const fs::path& each : files()) {
            bytes += fs::file_size(each);
        }
        EXPECT_LE(bytes, 20'000U);
    }
    EXPECT_TRUE(fs::exists(first));
    EXPECT_TRUE(cache.load("key 11", note).has_value());
    EXPECT_FALSE(cache.load("key 0", note).has_value());
}

TEST(ObjectKey, is_the_same_for_the_same_kernel_and_differs_with_what_is_compiled) {
    const std::string key = key_of(KERNEL);
    EXPECT_EQ(key_of(KERNEL), key);
    std::string other = KERNEL;
    other.replace(other.find(", 5;"), 4, ", 6;");
    EXPECT_NE(key_of(other), key);
    other = KERNEL;
    other.replace(other.find("add.u32"), 7, "sub.u32");
    EXPECT_NE(key_of(other), key);
    EXPECT_NE(key_of(KERNEL, "isa_v2"), key);
    EXPECT_NE(key_of(KERNEL, "isa_v3", 8), key);
}
