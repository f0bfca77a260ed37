// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The file operations that the cache on disk is made of. All failures are std::system_error that
// names the file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace cuprum::detail {

/// An open file, closed with this object.
class File {
public:
    explicit File(int descriptor) noexcept : descriptor_(descriptor) {}

    File(File&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }

    File(const File&) = delete;
    File& operator=(const File&) = delete;
    File& operator=(File&&) = delete;
    ~File();

    [[nodiscard]] int get() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

[[noreturn]] void raise_file_error(int error, const std::string& path, const char* what);

/// Opens a file for reading; nothing if there is none. Links are not followed.
[[nodiscard]] std::optional<File> open_to_read(const std::string& path);
/// Makes a new file with a name of its own that starts with `start`, for the user alone; appends
/// the rest of the name to it.
[[nodiscard]] File create_unique(std::string& start);
[[nodiscard]] struct stat status_of(const File& file, const std::string& path);
void read_exactly(const File& file, std::span<std::byte> into, const std::string& path);
void write_exactly(const File& file, std::span<const std::byte> from, const std::string& path);
/// Makes a folder for the user alone, and those above it; does nothing if there is one.
void make_folder(const std::string& path);
/// Removes a file; tells whether there was one.
bool remove_file(const std::string& path);

/// A file or folder in a folder.
struct Listed {
    std::string path;
    struct stat status;
};

/// Returns what is in a folder, without links; empty if there is no such folder.
[[nodiscard]] std::vector<Listed> list_folder(const std::string& path);

/// Holds a lock between processes on a file, shared or alone, while it lives. Where the file system
/// has no locks it does nothing.
class FileLock {
public:
    enum class Kind { Shared, Alone };

    [[nodiscard]] FileLock(const std::string& path, Kind kind);

private:
    File file_;
};

} // namespace cuprum::detail
