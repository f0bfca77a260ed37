// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <sys/types.h>

namespace cuprum::emulator::usage {

/// A private folder. By default the one in which the processes of one user publish what they do: it
/// is CUPRUM_EMULATOR_RUNTIME_DIR, or cuprum-emulator in the user's own XDG_RUNTIME_DIR. Without
/// one it is cuprum-emulator-<uid> in /dev/shm, or in /tmp: there another user may be first to
/// create it, and then it cannot be used.
class Folder {
public:
    /// Opens the folder and creates it if need be. `problem()` says why it cannot be used: it must
    /// be a real folder of this user that nobody else can enter.
    Folder();

    /// Opens the folder of a user, which may not exist: root looks into the folders of others.
    explicit Folder(uid_t user);

    /// Opens a folder of this user for another purpose, and creates it and its parents if need be.
    /// `variable` names it, for `problem()`.
    Folder(std::string path, const char* variable);

    Folder(Folder&& other) noexcept;
    Folder& operator=(Folder&& other) = delete;
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder();

    /// Returns a descriptor for openat(), or -1 if the folder cannot be used.
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

    /// Returns a path of a file in the folder that is short, whatever the length of the folder's
    /// own. Addresses of sockets need one. Valid as long as the folder is open.
    [[nodiscard]] std::string short_path(const std::string& name) const;

private:
    void create();
    void open(uid_t user);

    int descriptor_ = -1;
    std::string path_;
    const char* variable_ = "CUPRUM_EMULATOR_RUNTIME_DIR";
    std::string problem_;
};

} // namespace cuprum::emulator::usage
