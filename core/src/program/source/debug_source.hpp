// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <time.h>

#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace cuprum::detail {

/// A file with a program's source, for debuggers to show. Deleted with this object, unless another
/// file has taken its place.
class DebugSource {
public:
    /// Writes a new file that only the user can read, in the folder for temporary files. Its name
    /// begins with `prefix` and the name of the first kernel.
    /// @throws std::system_error.
    [[nodiscard]] DebugSource(std::string_view source, std::string_view prefix);
    ~DebugSource();
    DebugSource(const DebugSource&) = delete;
    DebugSource& operator=(const DebugSource&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
    timespec changed_{}; // file systems reuse the numbers of deleted files
};

/// Returns the name of the first kernel in C++ source, empty if none is found.
[[nodiscard]] std::string first_kernel(std::string_view source);

} // namespace cuprum::detail
