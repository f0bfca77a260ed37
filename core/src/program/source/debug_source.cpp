// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/source/debug_source.hpp"

#include "support/file.hpp"
#include "support/shared_library.hpp"
#include "support/text.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <random>
#include <span>
#include <sys/stat.h>
#include <system_error>

namespace cuprum::detail {

namespace {

constexpr int MAX_ATTEMPTS = 16;

/// Returns a text that is safe in a file name.
std::string plain(std::string_view text) {
    static constexpr std::size_t MAX_LENGTH = 64;
    std::string name(text.substr(0, MAX_LENGTH));
    std::replace_if(
        name.begin(), name.end(),
        [](char character) { return !is_identifier_character(character); }, '_');
    return name.empty() ? "cuprum" : name;
}

std::string random_letters() {
    static constexpr std::string_view LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
    static constexpr std::size_t COUNT = 8;
    std::random_device device;
    std::uniform_int_distribution<std::size_t> pick(0, LETTERS.size() - 1);
    std::string text;
    for (std::size_t i = 0; i < COUNT; ++i) {
        text += LETTERS[pick(device)];
    }
    return text;
}

} // namespace

DebugSource::DebugSource(std::string_view source, std::string_view prefix) {
    std::string folder = environment("TMPDIR");
    if (!std::filesystem::path(folder).is_absolute()) {
        folder = "/tmp";
    }
    const std::string kernel = first_kernel(source);
    const std::string start = folder + "/" + plain(prefix) + (kernel.empty() ? "" : "_" + kernel);
    int file = -1;
    for (int attempt = 0; file < 0 && attempt < MAX_ATTEMPTS; ++attempt) {
        path_ = start + "_" + random_letters() + ".cu";
        file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file < 0 && errno != EEXIST) {
            break;
        }
    }
    if (file < 0) {
        throw std::system_error(errno, std::generic_category(), "\"" + path_ + "\"");
    }
    try {
        if (const int error = write_all(file, std::as_bytes(std::span(source))); error != 0) {
            throw std::system_error(error, std::generic_category(), "\"" + path_ + "\"");
        }
        struct stat status{};
        if (::fstat(file, &status) != 0) {
            throw std::system_error(errno, std::generic_category(), "\"" + path_ + "\"");
        }
        device_ = status.st_dev;
        inode_ = status.st_ino;
        changed_ = status.st_ctim;
    } catch (...) {
        ::close(file);
        ::unlink(path_.c_str());
        throw;
    }
    ::close(file);
}

DebugSource::~DebugSource() {
    struct stat status{};
    if (::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
        status.st_ino == inode_ && status.st_ctim.tv_sec == changed_.tv_sec &&
        status.st_ctim.tv_nsec == changed_.tv_nsec) {
        ::unlink(path_.c_str()); // a file that remains does no harm
    }
}

std::string first_kernel(std::string_view source) {
    static constexpr std::string_view MARK = "__global__";
    const std::size_t found = source.find(MARK);
    if (found == std::string_view::npos) {
        return {};
    }
    // The name precedes the first parenthesis that does not belong to an attribute.
    std::string_view rest = source.substr(found + MARK.size());
    while (true) {
        const std::size_t open = rest.find('(');
        if (open == std::string_view::npos) {
            return {};
        }
        std::size_t end = open;
        while (end > 0 && std::isspace(static_cast<unsigned char>(rest[end - 1])) != 0) {
            --end;
        }
        std::size_t begin = end;
        while (begin > 0 && is_identifier_character(rest[begin - 1])) {
            --begin;
        }
        const std::string_view name = rest.substr(begin, end - begin);
        if (name.empty() || !name.starts_with("__")) {
            return std::string(name);
        }
        rest.remove_prefix(open + 1); // __launch_bounds__(...) and the like
        rest.remove_prefix(std::min(rest.find(')') + 1, rest.size()));
    }
}

} // namespace cuprum::detail
