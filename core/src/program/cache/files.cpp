// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/cache/files.hpp"

#include "support/file.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string_view>
#include <sys/file.h>
#include <system_error>

namespace cuprum::detail {

File::~File() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

void raise_file_error(int error, const std::string& path, const char* what) {
    throw std::system_error(error, std::generic_category(),
                            std::string("program cache: cannot ") + what + " \"" + path + "\"");
}

std::optional<File> open_to_read(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return std::nullopt;
        }
        raise_file_error(errno, path, "read");
    }
    return File(descriptor);
}

File create_unique(std::string& start, mode_t mode) {
    start += "XXXXXX";
    File file(::mkostemp(start.data(), O_CLOEXEC));
    if (file.get() < 0 || ::fchmod(file.get(), mode) != 0) {
        raise_file_error(errno, start, "make");
    }
    return file;
}

struct stat status_of(const File& file, const std::string& path) {
    struct stat status{};
    if (::fstat(file.get(), &status) != 0) {
        raise_file_error(errno, path, "look at");
    }
    return status;
}

void read_exactly(const File& file, std::span<std::byte> into, const std::string& path) {
    while (!into.empty()) {
        const ssize_t got = ::read(file.get(), into.data(), into.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            raise_file_error(got < 0 ? errno : EIO, path, "read");
        }
        into = into.subspan(static_cast<std::size_t>(got));
    }
}

void write_exactly(const File& file, std::span<const std::byte> from, const std::string& path) {
    if (const int error = write_all(file.get(), from); error != 0) {
        raise_file_error(error, path, "write");
    }
}

void make_folder(const std::string& path, mode_t mode) {
    // The process may have a mask that takes permissions away.
    const auto make = [&] {
        return ::mkdir(path.c_str(), mode) == 0 && ::chmod(path.c_str(), mode) == 0;
    };
    if (make()) {
        return;
    }
    const int error = errno;
    struct stat status{};
    if (error == EEXIST && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
        return;
    }
    const std::string parent = std::filesystem::path(path).parent_path().string();
    if (error == ENOENT && !parent.empty() && parent != path) {
        make_folder(parent, mode);
        if (make() || errno == EEXIST) {
            return;
        }
        raise_file_error(errno, path, "make the folder");
    }
    raise_file_error(error == EEXIST ? ENOTDIR : error, path, "make the folder");
}

bool remove_file(const std::string& path) {
    if (::unlink(path.c_str()) == 0) {
        return true;
    }
    if (errno == ENOENT || errno == ENOTDIR) {
        return false;
    }
    raise_file_error(errno, path, "remove");
}

std::vector<Listed> list_folder(const std::string& path) {
    const auto close = [](DIR* open) { ::closedir(open); };
    const std::unique_ptr<DIR, decltype(close)> folder(::opendir(path.c_str()), close);
    if (folder == nullptr) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return {};
        }
        raise_file_error(errno, path, "list");
    }
    std::vector<Listed> found;
    while (const dirent* entry = ::readdir(folder.get())) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") {
            continue;
        }
        Listed listed{path + "/" + std::string(name), {}};
        // Another process may have removed it.
        if (::lstat(listed.path.c_str(), &listed.status) == 0 && !S_ISLNK(listed.status.st_mode)) {
            found.push_back(std::move(listed));
        }
    }
    return found;
}

FileLock::FileLock(const std::string& path, Kind kind, mode_t mode)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)) {
    static_cast<void>(::fchmod(file_.get(), mode)); // fails for a file of another user
    // NOTE: without a lock the cache still never shows half a file, but it may drop code that was
    // just written.
    while (file_.get() >= 0 &&
           ::flock(file_.get(), kind == Kind::Shared ? LOCK_SH : LOCK_EX) != 0 && errno == EINTR) {
    }
}

} // namespace cuprum::detail
