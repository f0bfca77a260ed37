// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace cuprum::emulator::usage {

/// The private folder in which the processes of one user publish what they do.
///
/// It is CUPRUM_EMULATOR_RUNTIME_DIR, or cuprum-emulator-<uid> in /dev/shm, or in /tmp where there
/// is no /dev/shm.
class Folder {
public:
    /// Opens the folder and creates it if need be. `problem()` says why it cannot be used: it must
    /// be a real folder of this user that nobody else can enter.
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    /// Returns a descriptor for openat(), or -1 if the folder cannot be used.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    int descriptor_ = -1;
    std::string path_;
    std::string problem_;
};

} // namespace cuprum::emulator::usage
