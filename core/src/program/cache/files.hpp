// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The file operations of the cache on disk. Every failure is a std::system_error that names the
// file.

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

/// Opens a file for reading; nothing if it does not exist. Does not follow links.
[[nodiscard]] std::optional<File> open_to_read(const std::string& path);
/// Creates a file with these permissions and a unique name that begins with `start`. Appends the
/// rest of the name to `start`.
[[nodiscard]] File create_unique(std::string& start, mode_t mode);
[[nodiscard]] struct stat status_of(const File& file, const std::string& path);
void read_exactly(const File& file, std::span<std::byte> into, const std::string& path);
void write_exactly(const File& file, std::span<const std::byte> from, const std::string& path);
/// Creates a folder with these permissions, and its parents. An existing folder is kept.
void make_folder(const std::string& path, mode_t mode);
/// Removes a file. Returns false if there was none.
bool remove_file(const std::string& path);

/// A file or folder in a folder.
struct Listed {
    std::string path;
    struct stat status;
};

/// Returns the entries of a folder, without links; empty if there is no such folder.
[[nodiscard]] std::vector<Listed> list_folder(const std::string& path);

/// Holds a lock on a file between processes, shared or exclusive. Does nothing on file systems
/// without locks.
class FileLock {
public:
    enum class Kind { Shared, Exclusive };

    [[nodiscard]] FileLock(const std::string& path, Kind kind, mode_t mode);

private:
    File file_;
};

} // namespace cuprum::detail
