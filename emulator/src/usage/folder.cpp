// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "usage/folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <utility>

namespace cuprum::emulator::usage {

namespace {

/// Returns whether a folder belongs to a user, and nobody else can enter it.
bool is_private(const std::string& path, uid_t user) {
    struct stat status{};
    return path.starts_with('/') && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == user && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/// Returns the user's own folder for such things, where nobody else can put anything. Empty if
/// there is none, as in most containers. A session names it in a variable; processes without a
/// session, and root in search of another user's folder, know where it usually is.
std::string private_parent(uid_t user) {
    const char* const named = user == ::geteuid() ? ::secure_getenv("XDG_RUNTIME_DIR") : nullptr;
    for (const std::string& path :
         {std::string(named != nullptr ? named : ""), "/run/user/" + std::to_string(user)}) {
        if (is_private(path, user)) {
            return path;
        }
    }
    return {};
}

std::string folder_path(uid_t user) {
    if (const char* chosen = ::secure_getenv("CUPRUM_EMULATOR_RUNTIME_DIR");
        chosen != nullptr && *chosen != '\0') {
        return chosen;
    }
    if (const std::string parent = private_parent(user); !parent.empty()) {
        return parent + "/cuprum-emulator";
    }
    const char* const parent = ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    return std::string(parent) + "/cuprum-emulator-" + std::to_string(user);
}

} // namespace

Folder::Folder() : path_(folder_path(::geteuid())) {
    create();
}

Folder::Folder(uid_t user) : path_(folder_path(user)) {
    open(user);
}

Folder::Folder(std::string path, const char* variable)
    : path_(std::move(path)), variable_(variable) {
    for (std::size_t slash = path_.find('/', 1); slash != std::string::npos;
         slash = path_.find('/', slash + 1)) {
        (void)::mkdir(path_.substr(0, slash).c_str(), S_IRWXU); // create() reports a failure
    }
    create();
}

Folder::Folder(Folder&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)),
      variable_(other.variable_), problem_(std::move(other.problem_)) {}

std::string Folder::short_path(const std::string& name) const {
    return "/proc/self/fd/" + std::to_string(descriptor_) + "/" + name;
}

void Folder::create() {
    if (::mkdir(path_.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        problem_ = path_ + " cannot be created: " + std::strerror(errno);
        return;
    }
    open(::geteuid());
}

void Folder::open(uid_t user) {
    // O_NOFOLLOW: somebody else may have put a link there.
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status{};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) {
        problem_ = path_ + " cannot be opened: " + std::strerror(errno);
    } else if (status.st_uid != user) {
        problem_ = path_ + " belongs to another user";
    } else if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        problem_ = path_ + " is open to other users; chmod 700 closes it";
    }
    if (!problem_.empty()) {
        problem_ += std::string("; set ") + variable_ + " to another folder";
        if (descriptor_ >= 0) {
            ::close(std::exchange(descriptor_, -1));
        }
    }
}

Folder::~Folder() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

} // namespace cuprum::emulator::usage
