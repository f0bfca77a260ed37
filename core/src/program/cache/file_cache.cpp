// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A cache in files.
//
//     <folder>/entries/ab/cdef...   one file per key, named by the SHA-256 of the key
//     <folder>/tmp/                 unfinished files, renamed into place when complete
//     <folder>/lock                 shared while renaming, exclusive while making room
//
// A file holds the code, so that tools for cubins or PTX can open it, followed by a trailer: a
// mark, the size of the code and a checksum seeded with the key.

#include "program/cache/checksum.hpp"
#include "program/cache/digest.hpp"
#include "program/cache/files.hpp"
#include "program/code/packing.hpp"
#include "support/shared_library.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <cuprum/program_cache.hpp>

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace cuprum {

namespace {

using detail::File;
using detail::FileLock;

constexpr std::uint64_t MARK = 0x33304D5552505543; // "CUPRUM03"
constexpr time_t STALE_AFTER_S = 3600;             // no file in tmp/ takes this long to write
constexpr mode_t PRIVATE = 0700;

struct Trailer {
    std::uint64_t mark = MARK;
    std::uint64_t size = 0;
    std::uint64_t checksum = 0;
};

std::uint64_t seed_of(std::string_view digest) {
    std::uint64_t seed = 0;
    std::memcpy(&seed, digest.data(), sizeof(seed));
    return seed;
}

/// Returns the permissions of what the cache makes in a folder: those of the folder if it is
/// shared.
mode_t check_folder(const std::string& path, bool is_default) {
    // NOTE: not the sticky bit, with which a user could not replace an entry of another.
    static constexpr mode_t SHARED_BITS = S_ISGID | S_IRWXU | S_IRWXG | S_IRWXO;
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
        detail::raise_file_error(errno, path, "look at");
    }
    const bool is_own = status.st_uid == ::geteuid();
    const bool is_closed = (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (is_own && is_closed) {
        return PRIVATE;
    }
    const std::string trouble =
        "program cache: \"" + path + "\" " +
        (is_own ? "can be written by other users" : "belongs to another user") +
        ", who can decide what code runs";
    if (is_default) {
        throw std::invalid_argument(trouble + "; make it private (chmod 700), or set "
                                              "CUPRUM_CACHE_DIR to another folder");
    }
    detail::warn(WarningKind::Degraded, trouble);
    return status.st_mode & SHARED_BITS;
}

bool is_same_file(const struct stat& left, const struct stat& right) {
    return left.st_ino == right.st_ino && left.st_dev == right.st_dev &&
           left.st_size == right.st_size && left.st_mtim.tv_sec == right.st_mtim.tv_sec &&
           left.st_mtim.tv_nsec == right.st_mtim.tv_nsec;
}

} // namespace

struct FileStreamProgramCache::State {
    std::string root;
    std::string entries;
    std::string tmp;
    std::string lock;
    std::optional<std::size_t> limit;
    mode_t mode = PRIVATE;               // of its folders, and of its files except for execution
    std::atomic<std::size_t> tracked{0}; // estimated size of the files; only with a limit

    /// Returns whether no other user can write to the folder.
    [[nodiscard]] bool is_private() const noexcept { return mode == PRIVATE; }

    [[nodiscard]] mode_t file_mode() const noexcept { return mode & 0666U; }

    [[nodiscard]] std::string file_of(std::string_view digest) const {
        const std::string name = detail::hexadecimal(digest);
        std::string file;
        file.reserve(entries.size() + name.size() + 2);
        return file.append(entries).append("/").append(name, 0, 2).append("/").append(name, 2);
    }

    [[nodiscard]] std::vector<detail::Listed> files() const;
    [[nodiscard]] std::size_t measure() const;
    void drop_stale_files() const;
    void make_room();
    void drop_damaged(const std::string& file, const struct stat& seen) const;
};

FileStreamProgramCache::FileStreamProgramCache(std::optional<std::string> path,
                                               std::optional<std::size_t> max_size_bytes)
    : state_(std::make_unique<State>()) {
    if (max_size_bytes == std::size_t{0}) {
        throw std::invalid_argument("max_size_bytes is 0; expected a positive number, or none for "
                                    "no limit");
    }
    const bool is_default = !path.has_value();
    if (!is_default && path->empty()) {
        throw std::invalid_argument(
            "path is \"\", expected a folder; leave it unset for the default "
            "folder");
    }
    detail::check_has_no_nul("path", path.value_or(""));
    state_->root = is_default ? default_path() : std::filesystem::absolute(*path).string();
    state_->entries = state_->root + "/entries";
    state_->tmp = state_->root + "/tmp";
    state_->lock = state_->root + "/lock";
    state_->limit = max_size_bytes;
    detail::make_folder(state_->root, PRIVATE);
    state_->mode = check_folder(state_->root, is_default);
    detail::make_folder(state_->entries, state_->mode);
    detail::make_folder(state_->tmp, state_->mode);
    state_->drop_stale_files();
    if (state_->limit.has_value()) {
        state_->tracked = state_->measure();
    }
}

FileStreamProgramCache::~FileStreamProgramCache() = default;

std::optional<std::vector<std::byte>> FileStreamProgramCache::get(std::string_view key) {
    const std::optional<detail::PaddedCode> code = load(key);
    if (!code.has_value()) {
        return std::nullopt;
    }
    return std::vector(code->bytes().begin(), code->bytes().end());
}

std::optional<detail::PaddedCode> FileStreamProgramCache::load(std::string_view key) {
    const std::string digest = detail::sha256(key);
    const std::string path = state_->file_of(digest);
    const std::optional<File> file = detail::open_to_read(path);
    if (!file.has_value()) {
        return std::nullopt;
    }
    const struct stat status = detail::status_of(*file, path);
    if (!S_ISREG(status.st_mode) ||
        (state_->is_private() && status.st_uid != ::geteuid() && status.st_uid != 0)) {
        return std::nullopt; // this cache did not write it
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    Trailer trailer;
    if (size < sizeof(trailer)) {
        state_->drop_damaged(path, status);
        return std::nullopt;
    }
    auto code = detail::PaddedCode::for_overwrite(size);
    detail::read_exactly(*file, code.bytes(), path);
    std::memcpy(&trailer, code.bytes().last<sizeof(trailer)>().data(), sizeof(trailer));
    code.shorten(size - sizeof(trailer));
    if (trailer.mark != MARK || trailer.size != code.bytes().size() ||
        trailer.checksum != detail::checksum(code.bytes(), seed_of(digest))) {
        state_->drop_damaged(path, status);
        return std::nullopt;
    }
    // The least recently read file is dropped first. Some file systems keep no access times.
    const std::array<timespec, 2> times{timespec{0, UTIME_NOW}, timespec{0, UTIME_OMIT}};
    static_cast<void>(::futimens(file->get(), times.data()));
    return code;
}

void FileStreamProgramCache::put(std::string_view key, std::span<const std::byte> code) {
    const std::string digest = detail::sha256(key);
    const std::string path = state_->file_of(digest);
    Trailer trailer;
    trailer.size = code.size();
    trailer.checksum = detail::checksum(code, seed_of(digest));

    detail::make_folder(state_->tmp, state_->mode); // a clean-up may have removed it
    std::string unfinished = state_->tmp + "/entry-";
    {
        const File file = detail::create_unique(unfinished, state_->file_mode());
        try {
            detail::write_exactly(file, code, unfinished);
            detail::write_exactly(file, std::as_bytes(std::span(&trailer, 1)), unfinished);
        } catch (...) {
            ::unlink(unfinished.c_str());
            throw;
        }
    }
    struct stat replaced{};
    const bool is_replacing = state_->limit.has_value() && ::lstat(path.c_str(), &replaced) == 0;
    {
        const FileLock lock(state_->lock, FileLock::Kind::Shared, state_->file_mode());
        int result = ::rename(unfinished.c_str(), path.c_str());
        if (result != 0 && errno == ENOENT) {
            detail::make_folder(std::filesystem::path(path).parent_path().string(), state_->mode);
            result = ::rename(unfinished.c_str(), path.c_str());
        }
        if (result != 0) {
            const int error = errno;
            ::unlink(unfinished.c_str());
            detail::raise_file_error(error, path, "write");
        }
    }
    if (state_->limit.has_value()) {
        const std::size_t before =
            is_replacing ? static_cast<std::size_t>(replaced.st_size) : std::size_t{0};
        const std::size_t added = code.size() + sizeof(trailer);
        const std::size_t total = state_->tracked.fetch_add(added) + added;
        state_->tracked.fetch_sub(std::min(before, total));
        if (state_->tracked.load() > *state_->limit) {
            state_->make_room();
        }
    }
}

bool FileStreamProgramCache::remove(std::string_view key) {
    return detail::remove_file(state_->file_of(detail::sha256(key)));
    // make_room() measures the files again, so there is no count to update.
}

std::size_t FileStreamProgramCache::count() {
    return state_->files().size();
}

void FileStreamProgramCache::clear() {
    {
        const FileLock lock(state_->lock, FileLock::Kind::Exclusive, state_->file_mode());
        for (const detail::Listed& file : state_->files()) {
            detail::remove_file(file.path);
        }
    }
    state_->drop_stale_files();
    state_->tracked = state_->limit.has_value() ? state_->measure() : 0;
}

std::size_t FileStreamProgramCache::bytes() {
    return state_->measure();
}

const std::string& FileStreamProgramCache::path() const noexcept {
    return state_->root;
}

std::string FileStreamProgramCache::file_of(std::string_view key) const {
    return state_->file_of(detail::sha256(key));
}

std::string FileStreamProgramCache::default_path() {
    static constexpr const char* FOLDER = "/cuprum/program-cache";
    for (const auto& [variable, rest] :
         {std::pair{"CUPRUM_CACHE_DIR", ""}, std::pair{"XDG_CACHE_HOME", FOLDER}}) {
        const std::string value = detail::environment(variable);
        if (std::filesystem::path(value).is_absolute()) {
            return value + rest;
        }
    }
    std::string home = detail::environment("HOME");
    if (!std::filesystem::path(home).is_absolute()) {
        std::array<char, 4096> memory{};
        passwd entry{};
        passwd* found = nullptr;
        if (::getpwuid_r(::geteuid(), &entry, memory.data(), memory.size(), &found) != 0 ||
            found == nullptr || found->pw_dir == nullptr) {
            throw std::invalid_argument("the program cache finds no home folder; set "
                                        "CUPRUM_CACHE_DIR, or pass a path");
        }
        home = found->pw_dir;
    }
    return home + "/.cache" + FOLDER;
}

std::vector<detail::Listed> FileStreamProgramCache::State::files() const {
    std::vector<detail::Listed> found;
    for (const detail::Listed& shard : detail::list_folder(entries)) {
        if (!S_ISDIR(shard.status.st_mode)) {
            continue;
        }
        for (detail::Listed& file : detail::list_folder(shard.path)) {
            if (S_ISREG(file.status.st_mode)) {
                found.push_back(std::move(file));
            }
        }
    }
    return found;
}

std::size_t FileStreamProgramCache::State::measure() const {
    std::size_t total = 0;
    for (const auto& listed : {files(), detail::list_folder(tmp)}) {
        for (const detail::Listed& file : listed) {
            total += static_cast<std::size_t>(file.status.st_size);
        }
    }
    return total;
}

void FileStreamProgramCache::State::drop_stale_files() const {
    const time_t now = ::time(nullptr);
    for (const detail::Listed& file : detail::list_folder(tmp)) {
        if (S_ISREG(file.status.st_mode) && file.status.st_mtim.tv_sec + STALE_AFTER_S < now) {
            detail::remove_file(file.path);
        }
    }
}

void FileStreamProgramCache::State::make_room() {
    drop_stale_files();
    // No other process renames files now.
    const FileLock alone(lock, FileLock::Kind::Exclusive, file_mode());
    std::vector<detail::Listed> listed = files();
    std::size_t total = 0;
    for (const detail::Listed& file : detail::list_folder(tmp)) {
        total += static_cast<std::size_t>(file.status.st_size);
    }
    for (const detail::Listed& file : listed) {
        total += static_cast<std::size_t>(file.status.st_size);
    }
    std::sort(
        listed.begin(), listed.end(), [](const detail::Listed& left, const detail::Listed& right) {
            const timespec& one = left.status.st_atim;
            const timespec& other = right.status.st_atim;
            return std::pair(one.tv_sec, one.tv_nsec) < std::pair(other.tv_sec, other.tv_nsec);
        });
    // Not just to the limit: the next file would pass it again, and all files would be listed
    // again.
    const std::size_t enough = *limit - *limit / 8;
    for (const detail::Listed& file : listed) {
        if (total <= enough) {
            break;
        }
        struct stat now{};
        if (::lstat(file.path.c_str(), &now) == 0 && !is_same_file(now, file.status)) {
            continue; // it was replaced, on a file system without locks
        }
        detail::remove_file(file.path);
        total -= static_cast<std::size_t>(file.status.st_size);
    }
    tracked = total;
}

void FileStreamProgramCache::State::drop_damaged(const std::string& file,
                                                 const struct stat& seen) const {
    {
        const FileLock alone(lock, FileLock::Kind::Exclusive, file_mode());
        struct stat now{};
        if (::lstat(file.c_str(), &now) == 0 && is_same_file(now, seen)) {
            detail::remove_file(file);
        }
    }
    detail::warn(WarningKind::Degraded,
                 "program cache: \"" + file +
                     "\" was damaged and is removed; the program is compiled again");
}

} // namespace cuprum
