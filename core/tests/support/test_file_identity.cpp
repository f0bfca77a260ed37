// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/file.hpp"

#include <gtest/gtest.h>

#include <elf.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace cuprum {

namespace {

namespace fs = std::filesystem;

/// Provides a file in a separate folder.
class FileIdentity : public ::testing::Test {
protected:
    FileIdentity() { fs::create_directories(folder_); }

    ~FileIdentity() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string identity() const { return detail::file_identity(file_.string()); }

    void write(std::string_view text) const { std::ofstream(file_, std::ios::binary) << text; }

    /// Writes an ELF file that contains only a build id.
    void write_elf(std::string_view build_id, unsigned claimed_bytes) const {
        struct {
            Elf64_Ehdr header{};
            Elf64_Phdr segment{};
            Elf64_Nhdr note{};
            char owner[4] = {'G', 'N', 'U', '\0'};
        } start;

        std::memcpy(start.header.e_ident, ELFMAG, SELFMAG);
        start.header.e_ident[EI_CLASS] = ELFCLASS64;
        start.header.e_phoff = sizeof(start.header);
        start.header.e_phnum = 1;
        start.header.e_phentsize = sizeof(start.segment);
        start.segment.p_type = PT_NOTE;
        start.segment.p_offset = sizeof(start.header) + sizeof(start.segment);
        start.segment.p_filesz = sizeof(start.note) + sizeof(start.owner) + build_id.size();
        start.note = {.n_namesz = 4, .n_descsz = claimed_bytes, .n_type = NT_GNU_BUILD_ID};
        std::string text(reinterpret_cast<const char*>(&start), sizeof(start));
        write(text + std::string(build_id));
    }

    fs::path folder_ =
        fs::temp_directory_path() / ("cuprum_identity_" + std::to_string(::getpid()));
    fs::path file_ = folder_ / "libfake.so.13";
};

} // namespace

TEST_F(FileIdentity, changes_with_the_size_or_time_of_a_file_without_a_build_id) {
    write("one");
    const std::string first = identity();
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(identity(), first);
    const auto time = fs::last_write_time(file_);
    write("three");
    fs::last_write_time(file_, time);
    const std::string larger = identity();
    EXPECT_NE(larger, first);
    fs::last_write_time(file_, time + std::chrono::seconds(1));
    EXPECT_NE(identity(), larger);
}

TEST_F(FileIdentity, is_the_build_id_wherever_and_whenever_the_file_was_installed) {
    write_elf("\x01\xab\xff\x10", 4);
    EXPECT_EQ(identity(), "build id 01abff10");
    fs::last_write_time(file_, fs::last_write_time(file_) + std::chrono::hours(1));
    EXPECT_EQ(identity(), "build id 01abff10");
    write_elf("\x02\xab\xff\x10", 4);
    EXPECT_EQ(identity(), "build id 02abff10");
}

TEST_F(FileIdentity, does_not_trust_the_sizes_in_a_file) {
    write_elf("\x01\xab", 1U << 30U);
    EXPECT_TRUE(identity().starts_with("size ")) << identity();
    write("\x7f"
          "ELF");
    EXPECT_TRUE(identity().starts_with("size ")) << identity();
}

TEST_F(FileIdentity, of_what_is_no_file_is_empty) {
    EXPECT_EQ(identity(), "");
    EXPECT_EQ(detail::file_identity(""), "");
    EXPECT_EQ(detail::file_identity(folder_.string()), "");
}

} // namespace cuprum
