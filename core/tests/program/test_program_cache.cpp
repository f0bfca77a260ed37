// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/cache/checksum.hpp"
#include "program/cache/digest.hpp"
#include "support/expect_error.hpp"
#include "support/scoped_variable.hpp"
#include "support/warning_log.hpp"

#include <cuprum/program.hpp>
#include <cuprum/program_cache.hpp>

#include <gtest/gtest.h>

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace cuprum {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
}

std::string text_of(const std::optional<std::vector<std::byte>>& code) {
    return code.has_value() ? std::string(reinterpret_cast<const char*>(code->data()), code->size())
                            : "(absent)";
}

void put(ProgramCache& cache, std::string_view key, std::string_view text) {
    cache.put(key, bytes_of(text));
}

TEST(Digest, is_that_of_the_standard) {
    using detail::hexadecimal;
    using detail::sha256;
    EXPECT_EQ(hexadecimal(sha256("")),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hexadecimal(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hexadecimal(sha256(std::string(1000000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    detail::Sha256 parts;
    for (const std::size_t size : {1, 62, 2, 64, 200}) {
        parts.add(std::string(size, 'a'));
    }
    EXPECT_EQ(parts.finish(), sha256(std::string(329, 'a')));
}

TEST(Digest, the_checksum_notices_every_changed_bit) {
    std::vector<std::byte> bytes(100);
    const std::uint64_t whole = detail::checksum(bytes, 1);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        const std::byte mask = std::byte{1} << (bit % 8);
        bytes[bit / 8] ^= mask;
        EXPECT_NE(detail::checksum(bytes, 1), whole) << bit;
        bytes[bit / 8] ^= mask;
    }
    EXPECT_NE(detail::checksum(bytes, 2), whole);
    EXPECT_NE(detail::checksum(std::span(bytes).first(99), 1), whole);
}

TEST(Digest, the_checksum_notices_what_moves_and_what_is_lost) {
    std::vector<std::byte> bytes(8000);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>((i * 7 >> 3) + (i >> 10) + 1);
    }
    const std::uint64_t whole = detail::checksum(bytes, 1);
    for (const std::size_t unit : {1U, 8U, 16U, 64U, 128U, 1024U}) {
        std::vector<std::byte> moved = bytes;
        std::swap_ranges(moved.begin(), moved.begin() + unit, moved.begin() + 4 * unit);
        EXPECT_NE(detail::checksum(moved, 1), whole) << unit;
        moved = bytes;
        std::rotate(moved.begin(), moved.begin() + unit, moved.end());
        EXPECT_NE(detail::checksum(moved, 1), whole) << unit;
    }
    std::set<std::uint64_t> sums;
    const std::vector<std::byte> zeros(300);
    for (std::size_t size = 0; size <= zeros.size(); ++size) {
        sums.insert(detail::checksum(std::span(zeros).first(size), 1));
        sums.insert(detail::checksum(std::span(bytes).first(size), 1));
    }
    EXPECT_EQ(sums.size(), 2 * zeros.size() + 1) << "every size differs, and only nothing is alike";
}

TEST(Digest, the_checksum_is_the_same_on_every_machine) {
    // The expected value comes from a second implementation with arbitrary-precision arithmetic.
    std::vector<std::byte> bytes(3000);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(i * 7 >> 3);
    }
    EXPECT_EQ(detail::checksum({}, 0), 0x554D07D14D03DC48U);
    EXPECT_EQ(detail::checksum(std::span(bytes).first(128), 5), 0x1433C78627C9678DU);
    EXPECT_EQ(detail::checksum(std::span(bytes).first(1000), 0xFEDCBA9876543210),
              0xF0FCE4B8B601E139U);
    EXPECT_EQ(detail::checksum(bytes, 7), 0x84495FFD59098BFEU);
}

TEST(InMemoryProgramCache, keeps_replaces_and_removes) {
    InMemoryProgramCache cache;
    EXPECT_EQ(text_of(cache.get("a")), "(absent)");
    put(cache, "a", "one");
    put(cache, "a", "other");
    put(cache, std::string("\0b", 2), "");
    EXPECT_EQ(text_of(cache.get("a")), "other");
    EXPECT_EQ(text_of(cache.get(std::string("\0b", 2))), "");
    EXPECT_EQ(cache.count(), 2U);
    EXPECT_EQ(cache.bytes(), 5U);
    EXPECT_TRUE(cache.remove("a"));
    EXPECT_FALSE(cache.remove("a"));
    cache.clear();
    EXPECT_EQ(cache.count(), 0U);
    EXPECT_EQ(cache.bytes(), 0U);
}

TEST(InMemoryProgramCache, drops_what_was_not_used_for_longest) {
    InMemoryProgramCache cache(25);
    put(cache, "a", "0123456789");
    put(cache, "b", "0123456789");
    static_cast<void>(cache.get("a"));
    put(cache, "c", "0123456789");
    EXPECT_NE(text_of(cache.get("a")), "(absent)");
    EXPECT_EQ(text_of(cache.get("b")), "(absent)");
    EXPECT_NE(text_of(cache.get("c")), "(absent)");
    put(cache, "huge", std::string(26, 'x'));
    EXPECT_EQ(cache.count(), 0U);
    expect_error<std::invalid_argument>([] { const InMemoryProgramCache none(0); },
                                        {"max_size_bytes", "positive"});
}

class FileCache : public ::testing::Test {
protected:
    FileCache() {
        std::string name = (fs::temp_directory_path() / "cuprum-test-XXXXXX").string();
        root = fs::path(::mkdtemp(name.data()));
        folder = (root / "cache").string();
    }

    ~FileCache() override { fs::remove_all(root); }

    [[nodiscard]] static unsigned mode_of(const fs::path& path) {
        struct stat status{};
        EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
        return status.st_mode & 0777U;
    }

    /// Replaces the content of a file in place.
    static void overwrite(const std::string& file, std::string_view text) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
    }

    [[nodiscard]] static std::string contents(const std::string& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    fs::path root;
    std::string folder;
    testing::WarningLog warnings;
};

TEST_F(FileCache, keeps_code_for_later_caches) {
    {
        FileStreamProgramCache cache(folder);
        EXPECT_EQ(text_of(cache.get("key")), "(absent)");
        put(cache, "key", "one");
        put(cache, "key", "other");
        put(cache, "empty", "");
    }
    FileStreamProgramCache again(folder);
    EXPECT_EQ(text_of(again.get("key")), "other");
    EXPECT_EQ(text_of(again.get("empty")), "");
    EXPECT_EQ(again.count(), 2U);
    EXPECT_TRUE(again.remove("key"));
    EXPECT_FALSE(again.remove("key"));
    again.clear();
    EXPECT_EQ(again.count(), 0U);
}

TEST_F(FileCache, is_for_the_user_alone) {
    FileStreamProgramCache cache(folder);
    put(cache, "key", "code");
    for (const fs::path& path :
         {fs::path(folder), fs::path(folder) / "entries", fs::path(folder) / "tmp",
          fs::path(cache.file_of("key")).parent_path()}) {
        EXPECT_EQ(mode_of(path), 0700U) << path;
    }
    EXPECT_EQ(mode_of(cache.file_of("key")), 0600U);
}

TEST_F(FileCache, a_folder_that_others_can_write_to_is_refused_as_the_default) {
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::all);
    {
        const testing::ScopedVariable variable("CUPRUM_CACHE_DIR", folder);
        EXPECT_EQ(FileStreamProgramCache::default_path(), folder);
        expect_error<std::invalid_argument>([] { const FileStreamProgramCache cache; },
                                            {folder, "other users", "chmod"});
    }
    const FileStreamProgramCache named(folder); // an explicit folder is accepted with a warning
    const auto degraded = warnings.take(WarningKind::Degraded);
    ASSERT_EQ(degraded.size(), 1U);
    EXPECT_NE(degraded[0].find("other users"), std::string::npos) << degraded[0];
    EXPECT_EQ(mode_of(folder), 0777U);
}

TEST_F(FileCache, shares_what_it_makes_with_all_who_can_write_to_its_folder) {
    fs::permissions(root, fs::perms::all); // another user passes through it
    fs::create_directory(folder);
    for (const unsigned mode : {0770U, 0777U}) {
        fs::remove_all(folder + "/entries");
        fs::remove_all(folder + "/tmp");
        fs::remove_all(folder + "/lock");
        fs::permissions(folder, static_cast<fs::perms>(mode));
        FileStreamProgramCache cache(folder);
        put(cache, "key", "code");
        for (const fs::path& path : {fs::path(folder) / "entries", fs::path(folder) / "tmp",
                                     fs::path(cache.file_of("key")).parent_path()}) {
            EXPECT_EQ(mode_of(path), mode) << path;
        }
        for (const fs::path& path : {fs::path(cache.file_of("key")), fs::path(folder) / "lock"}) {
            EXPECT_EQ(mode_of(path), mode & 0666U) << path;
        }
    }
    if (::geteuid() != 0) {
        return; // only root can act for another user
    }
    static constexpr uid_t ANOTHER_USER = 65534;
    ASSERT_EQ(::seteuid(ANOTHER_USER), 0);
    std::string seen;
    EXPECT_NO_THROW({
        FileStreamProgramCache cache(folder, 1 << 20);
        seen = text_of(cache.get("key"));
        put(cache, "key", "newer");
        put(cache, "another", "code");
        EXPECT_TRUE(cache.remove("key"));
    });
    ASSERT_EQ(::seteuid(0), 0);
    EXPECT_EQ(seen, "code");
    EXPECT_EQ(text_of(FileStreamProgramCache(folder).get("another")), "code");
}

TEST_F(FileCache, an_empty_path_is_no_folder) {
    expect_error<std::invalid_argument>([] { const FileStreamProgramCache cache(""); },
                                        {"path is \"\"", "default folder"});
}

TEST_F(FileCache, the_default_folder_follows_the_environment) {
    const testing::ScopedVariable own("CUPRUM_CACHE_DIR", "");
    {
        const testing::ScopedVariable cache("XDG_CACHE_HOME", folder);
        EXPECT_EQ(FileStreamProgramCache::default_path(), folder + "/cuprum/program-cache");
    }
    const testing::ScopedVariable cache("XDG_CACHE_HOME", "");
    const testing::ScopedVariable home("HOME", root.string());
    EXPECT_EQ(FileStreamProgramCache::default_path(),
              root.string() + "/.cache/cuprum/program-cache");
    FileStreamProgramCache().put("key", bytes_of("code"));
    EXPECT_EQ(FileStreamProgramCache().count(), 1U);
}

TEST_F(FileCache, a_damaged_file_counts_as_absent_with_a_warning) {
    FileStreamProgramCache cache(folder);
    put(cache, "key", "some code that matters");
    const std::string file = cache.file_of("key");
    const std::string whole = contents(file);
    std::vector<std::string> damaged{"", "x", whole.substr(0, whole.size() - 1), whole + "x",
                                     std::string(whole.size(), '\0')};
    for (const std::size_t at : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
        damaged.push_back(whole);
        damaged.back()[at] ^= 0x10;
    }
    for (const std::string& text : damaged) {
        overwrite(file, text);
        EXPECT_EQ(text_of(cache.get("key")), "(absent)");
        EXPECT_FALSE(fs::exists(file));
        const auto degraded = warnings.take(WarningKind::Degraded);
        ASSERT_EQ(degraded.size(), 1U);
        EXPECT_NE(degraded[0].find(file), std::string::npos) << degraded[0];
        put(cache, "key", "some code that matters");
    }
    EXPECT_EQ(text_of(cache.get("key")), "some code that matters");
}

TEST_F(FileCache, a_file_with_another_keys_content_is_ignored) {
    FileStreamProgramCache cache(folder);
    put(cache, "one", "code of one");
    put(cache, "other", "code of other");
    overwrite(cache.file_of("other"), contents(cache.file_of("one")));
    EXPECT_EQ(text_of(cache.get("other")), "(absent)");
    static_cast<void>(warnings.take(WarningKind::Degraded));
    // Symbolic links are refused, whatever they point to.
    fs::create_symlink(cache.file_of("one"), cache.file_of("other"));
    EXPECT_THROW(static_cast<void>(cache.get("other")), std::system_error);
}

TEST_F(FileCache, past_its_limit_it_drops_what_was_not_used_for_longest) {
    const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    FileStreamProgramCache cache(folder, 5000);
    put(cache, "a", std::string(2000, 'a'));
    wait();
    put(cache, "b", std::string(2000, 'b'));
    wait();
    static_cast<void>(cache.get("a"));
    wait();
    put(cache, "c", std::string(2000, 'c'));
    EXPECT_NE(text_of(cache.get("a")), "(absent)");
    EXPECT_EQ(text_of(cache.get("b")), "(absent)");
    EXPECT_NE(text_of(cache.get("c")), "(absent)");
    EXPECT_LE(cache.bytes(), 5000U);
    put(cache, "c", std::string(2100, 'd')); // replaces the old entry
    EXPECT_EQ(cache.count(), 2U);
    expect_error<std::invalid_argument>([&] { const FileStreamProgramCache none(folder, 0); },
                                        {"max_size_bytes", "positive"});
}

TEST_F(FileCache, abandoned_temporary_files_are_deleted) {
    {
        const FileStreamProgramCache cache(folder);
    }
    const std::string young = folder + "/tmp/entry-young";
    const std::string old = folder + "/tmp/entry-old";
    overwrite(young, "x");
    overwrite(old, "x");
    fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
    {
        const FileStreamProgramCache cache(folder);
    }
    EXPECT_TRUE(fs::exists(young));
    EXPECT_FALSE(fs::exists(old));
}

TEST_F(FileCache, heals_when_its_folders_are_taken_away) {
    FileStreamProgramCache cache(folder);
    put(cache, "a", "one");
    fs::remove_all(folder + "/tmp");
    fs::remove_all(folder + "/entries");
    EXPECT_EQ(cache.count(), 0U);
    EXPECT_EQ(text_of(cache.get("a")), "(absent)");
    put(cache, "a", "again");
    EXPECT_EQ(text_of(cache.get("a")), "again");
}

TEST_F(FileCache, what_cannot_be_written_is_an_error_that_names_the_file) {
    overwrite(root.string() + "/file", "no folder");
    expect_error<std::system_error>(
        [&] { const FileStreamProgramCache cache(root.string() + "/file/cache"); },
        {"/file/cache", "program cache"});
}

TEST_F(FileCache, several_processes_never_see_half_a_file) {
    constexpr int PROCESSES = 3;
    constexpr int ROUNDS = 40;
    {
        const FileStreamProgramCache cache(folder);
    }
    std::vector<pid_t> children;
    for (int child = 0; child < PROCESSES; ++child) {
        const pid_t process = ::fork();
        ASSERT_GE(process, 0);
        if (process == 0) {
            int failures = 0;
            try {
                FileStreamProgramCache cache(folder, 40000);
                for (int i = 0; i < ROUNDS; ++i) {
                    put(cache, "shared", std::string(3000, static_cast<char>('a' + child)));
                    put(cache, std::to_string(child * ROUNDS + i), std::string(1000, 'x'));
                    // Files of one clock tick are equally old, so it may have been dropped.
                    const std::string seen = text_of(cache.get("shared"));
                    const bool is_whole = seen == std::string(3000, seen[0]);
                    failures += is_whole || seen == "(absent)" ? 0 : 1;
                }
            } catch (...) {
                failures = 100;
            }
            ::_exit(failures);
        }
        children.push_back(process);
    }
    for (const pid_t process : children) {
        int status = 0;
        ASSERT_EQ(::waitpid(process, &status, 0), process);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    // Each process counted its own files; one that opens the folder counts all of them.
    FileStreamProgramCache cache(folder, 40000);
    put(cache, "last", "one");
    EXPECT_EQ(text_of(cache.get("last")), "one");
    EXPECT_LE(cache.bytes(), 40000U);
}

/// Counts the calls.
class CountingCache final : public ProgramCache {
public:
    std::optional<std::vector<std::byte>> get(std::string_view key) override {
        auto found = memory.get(key);
        (found.has_value() ? hits : misses) += 1;
        return found;
    }

    void put(std::string_view key, std::span<const std::byte> code) override {
        memory.put(key, code);
    }

    bool remove(std::string_view key) override { return memory.remove(key); }

    std::size_t count() override { return memory.count(); }

    void clear() override { memory.clear(); }

    InMemoryProgramCache memory;
    int hits = 0;
    int misses = 0;
};

TEST(CompileThroughCache, the_second_time_nothing_is_compiled) {
    CountingCache cache;
    const Program program("#warning told once\nextern \"C\" __global__ void f() {}",
                          {.name = "mine", .arch = "sm_90"});
    const ObjectCode first = program.compile(CodeType::Ptx, {.cache = &cache});
    EXPECT_NE(program.log(), "");
    const ObjectCode second = program.compile(CodeType::Ptx, {.cache = &cache});
    EXPECT_EQ(program.log(), "") << "nothing was compiled";
    EXPECT_EQ(first.text(), second.text());
    EXPECT_EQ(second.name(), "mine");
    EXPECT_EQ(second.code_type(), CodeType::Ptx);
    EXPECT_EQ(cache.hits, 1);
    EXPECT_EQ(cache.misses, 1);
    EXPECT_EQ(cache.count(), 1U);
}

TEST(CompileThroughCache, names_of_templates_are_remembered) {
    CountingCache cache;
    const Program program("template <typename T> __global__ void f(T*) {}", {.arch = "sm_90"});
    const std::vector<std::string> names{"f<int>", "f<float>"};
    const ObjectCode first =
        program.compile(CodeType::Cubin, {.name_expressions = names, .cache = &cache});
    const ObjectCode second =
        program.compile(CodeType::Cubin, {.name_expressions = names, .cache = &cache});
    EXPECT_EQ(cache.hits, 1);
    EXPECT_EQ(second.symbol_mapping().size(), 2U);
    EXPECT_EQ(first.symbol_mapping(), second.symbol_mapping());
    EXPECT_TRUE(std::equal(first.code().begin(), first.code().end(), second.code().begin(),
                           second.code().end()));
}

TEST(CompileThroughCache, a_failure_is_not_kept) {
    CountingCache cache;
    const Program program("nonsense", {.arch = "sm_90"});
    EXPECT_ANY_THROW(static_cast<void>(program.compile(CodeType::Ptx, {.cache = &cache})));
    EXPECT_EQ(cache.count(), 0U);
}

/// Sets the default cache for one test.
class DefaultCache {
public:
    explicit DefaultCache(std::shared_ptr<ProgramCache> cache) {
        set_default_program_cache(std::move(cache));
    }

    DefaultCache(const DefaultCache&) = delete;
    DefaultCache& operator=(const DefaultCache&) = delete;

    ~DefaultCache() { set_default_program_cache(nullptr); }
};

TEST(DefaultProgramCache, is_used_by_programs_that_are_given_none) {
    const auto cache = std::make_shared<CountingCache>();
    const DefaultCache used(cache);
    EXPECT_EQ(default_program_cache(), cache);
    const Program program("extern \"C\" __global__ void f() {}", {.arch = "sm_90"});
    const ObjectCode first = program.compile(CodeType::Ptx);
    const ObjectCode second = program.compile(CodeType::Ptx);
    EXPECT_EQ(first.text(), second.text());
    EXPECT_EQ(cache->misses, 1);
    EXPECT_EQ(cache->hits, 1);
    InMemoryProgramCache other;
    static_cast<void>(program.compile(CodeType::Ptx, {.cache = &other}));
    EXPECT_EQ(other.count(), 1U) << "the one that is named is used instead";
    EXPECT_EQ(cache->hits, 1);
}

TEST(DefaultProgramCache, leaves_alone_what_cannot_be_cached) {
    const auto cache = std::make_shared<CountingCache>();
    const DefaultCache used(cache);
    const std::string source = "#define NAME <cuda_fp16.h>\n#include NAME\n";
    static_cast<void>(Program(source, {.arch = "sm_90"}).compile(CodeType::Ptx));
    static_cast<void>(Program("", {.arch = "sm_90", .lineinfo = true}).compile(CodeType::Ptx));
    EXPECT_EQ(cache->hits + cache->misses, 0);
    EXPECT_EQ(cache->count(), 0U);
}

/// A cache that throws the test's exception on every use.
class BrokenCache final : public ProgramCache {
public:
    explicit BrokenCache(std::function<void()> fail) : fail_(std::move(fail)) {}

    [[nodiscard]] std::optional<std::vector<std::byte>> get(std::string_view /*key*/) override {
        fail_();
        return std::nullopt;
    }

    void put(std::string_view /*key*/, std::span<const std::byte> /*code*/) override { fail_(); }

    bool remove(std::string_view /*key*/) override { return false; }

    std::size_t count() override { return 0; }

    void clear() override {}

private:
    std::function<void()> fail_;
};

TEST(DefaultProgramCache, that_fails_in_any_way_is_one_warning) {
    const std::vector<std::pair<std::function<void()>, std::string>> failures{
        {[] { throw std::runtime_error("the server is gone"); }, "the server is gone"},
        {[] { throw std::logic_error("closed"); }, "closed"},
        {[] { throw std::system_error(EACCES, std::generic_category(), "disk"); }, "disk"},
        {[] { throw std::bad_alloc(); }, "out of memory"},
        {[] { throw 42; }, "not a std::exception"},
    };
    for (const auto& [fail, reason] : failures) {
        testing::WarningLog warnings;
        const DefaultCache used(std::make_shared<BrokenCache>(fail));
        const Program program("extern \"C\" __global__ void f() {}", {.arch = "sm_90"});
        EXPECT_NO_THROW(
            EXPECT_NE(program.compile(CodeType::Ptx).text().find("f("), std::string_view::npos));
        const auto degraded = warnings.take(WarningKind::Degraded);
        ASSERT_EQ(degraded.size(), 1U) << reason;
        EXPECT_NE(degraded[0].find("default program cache failed"), std::string::npos);
        EXPECT_NE(degraded[0].find(reason), std::string::npos) << degraded[0];
    }
}

TEST(ProgramCache, that_a_program_is_given_may_fail) {
    BrokenCache cache([] { throw std::runtime_error("the server is gone"); });
    const Program program("extern \"C\" __global__ void f() {}", {.arch = "sm_90"});
    EXPECT_THROW(static_cast<void>(program.compile(CodeType::Ptx, {.cache = &cache})),
                 std::runtime_error);
}

TEST_F(FileCache, that_fails_as_the_default_is_a_warning) {
    const DefaultCache used(std::make_shared<FileStreamProgramCache>(folder));
    fs::remove_all(folder);
    std::ofstream(folder) << "not a folder";
    EXPECT_NO_THROW(static_cast<void>(Program("", {.arch = "sm_90"}).compile(CodeType::Ptx)));
    const auto told = warnings.take(WarningKind::Degraded);
    ASSERT_FALSE(told.empty());
    EXPECT_NE(told.back().find("default program cache"), std::string::npos) << told.back();
}

} // namespace
} // namespace cuprum
