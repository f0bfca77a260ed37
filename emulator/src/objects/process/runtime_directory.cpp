// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/runtime_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/stat.h>
#include <utility>

namespace cuprum::emulator {

namespace {

constexpr char VARIABLE[] = "CUPRUM_EMULATOR_RUNTIME_DIR";
constexpr mode_t MODE_OF_OTHERS = 0077;

std::string path_for(uid_t user) {
    if (const char* set = std::getenv(VARIABLE); set != nullptr && *set != '\0') {
        return set;
    }
    const char* const parent = ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    return std::string(parent) + "/cuprum-emulator-" + std::to_string(user);
}

[[noreturn]] void refuse_folder(const std::string& path, const std::string& reason) {
    throw std::runtime_error("the folder " + path + " cannot be used: " + reason + "; set " +
                             VARIABLE + " to a folder that only you can enter");
}

/// Opens a folder and checks its owner; -1 if there is none.
int open_checked(const std::string& path, uid_t user) {
    // No symbolic link: in /tmp anybody can make one.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) {
        if (errno == ENOENT) {
            return -1;
        }
        refuse_folder(path, std::strerror(errno));
    }
    struct stat status{};
    std::string reason;
    if (::fstat(descriptor, &status) != 0) {
        reason = std::strerror(errno);
    } else if (status.st_uid != user) {
        reason = "it belongs to user " + std::to_string(status.st_uid) + ", not to user " +
                 std::to_string(user);
    } else if ((status.st_mode & MODE_OF_OTHERS) != 0) {
        reason = "other users can enter it (chmod 700 closes it)";
    }
    if (!reason.empty()) {
        ::close(descriptor);
        refuse_folder(path, reason);
    }
    return descriptor;
}

} // namespace

RuntimeDirectory RuntimeDirectory::create() {
    const uid_t user = ::geteuid();
    const std::string path = path_for(user);
    if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        refuse_folder(path, std::strerror(errno));
    }
    const int descriptor = open_checked(path, user);
    if (descriptor < 0) {
        refuse_folder(path, std::strerror(ENOENT));
    }
    return {descriptor, path};
}

RuntimeDirectory RuntimeDirectory::open(uid_t user) {
    const std::string path = path_for(user);
    return {open_checked(path, user), path};
}

RuntimeDirectory::RuntimeDirectory(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)) {}

RuntimeDirectory::RuntimeDirectory(RuntimeDirectory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

RuntimeDirectory& RuntimeDirectory::operator=(RuntimeDirectory&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(path_, other.path_);
    return *this;
}

RuntimeDirectory::~RuntimeDirectory() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

std::string RuntimeDirectory::short_path(const std::string& name) const {
    return "/proc/self/fd/" + std::to_string(descriptor_) + "/" + name;
}

} // namespace cuprum::emulator
