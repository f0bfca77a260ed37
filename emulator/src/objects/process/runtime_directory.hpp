// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where processes that use the emulated device find each other.
//
// The folder is CUPRUM_EMULATOR_RUNTIME_DIR if that is set, else cuprum-emulator-<uid> in /dev/shm,
// or in /tmp where there is no /dev/shm. XDG_RUNTIME_DIR does not decide, so that a service and a
// shell of the same user agree. Only the user can enter the folder (mode 0700); a folder that
// someone else owns, or that others can enter, is refused.

#pragma once

#include <string>
#include <sys/types.h>

namespace cuprum::emulator {

/// An open folder that belongs to one user alone.
class RuntimeDirectory {
public:
    /// Opens the folder of the user who runs this process and creates it if there is none.
    ///
    /// @throws std::runtime_error naming the folder and what is wrong with it.
    [[nodiscard]] static RuntimeDirectory create();

    /// Opens the folder of a user, who must own it; is_open() is false if there is none.
    ///
    /// @throws std::runtime_error naming the folder and what is wrong with it.
    [[nodiscard]] static RuntimeDirectory open(uid_t user);

    RuntimeDirectory() = default;
    RuntimeDirectory(RuntimeDirectory&& other) noexcept;
    RuntimeDirectory& operator=(RuntimeDirectory&& other) noexcept;
    RuntimeDirectory(const RuntimeDirectory&) = delete;
    RuntimeDirectory& operator=(const RuntimeDirectory&) = delete;
    ~RuntimeDirectory();

    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

    /// Returns the descriptor of the folder, for openat() and its kin; -1 if it is not open.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    /// Returns a short path of a file in the folder, whatever the length of the folder's own.
    /// Addresses of sockets need one. Valid while the folder is open.
    [[nodiscard]] std::string short_path(const std::string& name) const;

private:
    RuntimeDirectory(int descriptor, std::string path);

    int descriptor_ = -1;
    std::string path_;
};

} // namespace cuprum::emulator
