// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/cache/dependencies.hpp"

#include "program/cache/digest.hpp"
#include "program/source/include_directives.hpp"
#include "program/source/includes.hpp"
#include "support/file.hpp"
#include "support/never_destroyed.hpp"

#include <cuprum/compiler.hpp>

#include <time.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <vector>

namespace cuprum::detail {

namespace {

namespace fs = std::filesystem;

/// A file as it was read.
struct SeenFile {
    struct stat status{};
    std::string digest;
    std::vector<Include> includes;
};

/// What this process read, by absolute path.
struct SeenFiles {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const SeenFile>> files;
};

[[nodiscard]] SeenFiles& seen_files();
[[nodiscard]] std::shared_ptr<const SeenFile> look_at(const std::string& path);
[[noreturn]] void raise_macro(const std::string& where);
[[nodiscard]] bool is_default_directory(const fs::path& directory);

/// Follows the directives from file to file.
class Walk {
public:
    explicit Walk(const ProgramOptions& options);

    void follow(const std::vector<Include>& includes, const fs::path& folder,
                const std::string& where);

    [[nodiscard]] std::string finish() { return is_empty_ ? std::string() : hash_.finish(); }

private:
    void visit(const std::string& path);

    std::vector<fs::path> folders_; // the source's own first
    std::set<std::string> visited_;
    Sha256 hash_;
    bool is_empty_ = true;
};

} // namespace

std::size_t remembered_files() {
    SeenFiles& seen = seen_files();
    const std::lock_guard lock(seen.mutex);
    return seen.files.size();
}

std::string dependency_digest(std::string_view code, const ProgramOptions& options) {
    if (!may_include(code) && options.headers.empty() && options.pre_include.empty()) {
        return {};
    }
    Walk walk(options);
    const fs::path folder = fs::path(options.name).parent_path();
    for (const std::string& name : options.pre_include) {
        walk.follow({{name, true}}, folder, "ProgramOptions pre_include");
    }
    walk.follow(includes_in(code), folder, "the source");
    for (const auto& [name, text] : options.headers) {
        walk.follow(includes_in(text), folder, "\"" + name + "\"");
    }
    return walk.finish();
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

Walk::Walk(const ProgramOptions& options) {
    folders_.push_back(fs::path(options.name).parent_path());
    for (const std::string& folder : options.include_path) {
        if (!is_default_directory(folder)) {
            folders_.emplace_back(folder);
        }
    }
}

/// Adds every file that a name may refer to, in all folders that the compiler searches.
void Walk::follow(const std::vector<Include>& includes, const fs::path& folder,
                  const std::string& where) {
    for (const Include& include : includes) {
        if (include.name.empty()) {
            raise_macro(where);
        }
        is_empty_ = false;
        hash_.add_field(include.name);
        std::vector<std::string> candidates;
        if (fs::path(include.name).is_absolute()) {
            candidates.push_back(include.name);
        } else {
            candidates.push_back((folder / include.name).string());
            for (const fs::path& other : folders_) {
                candidates.push_back((other / include.name).string());
            }
        }
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (std::find(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(i),
                          candidates[i]) != candidates.begin() + static_cast<std::ptrdiff_t>(i)) {
                continue;
            }
            hash_.add_field(std::to_string(i));
            visit(candidates[i]);
        }
    }
}

void Walk::visit(const std::string& path) {
    const std::shared_ptr<const SeenFile> file = look_at(path);
    if (file == nullptr) {
        hash_.add_field("absent");
        return;
    }
    hash_.add_field(file->digest);
    if (visited_.insert(path).second) {
        follow(file->includes, fs::path(path).parent_path(), "\"" + path + "\"");
    }
}

void raise_macro(const std::string& where) {
    throw std::invalid_argument(where + " includes a file that a macro names, whose contents the "
                                        "cache key does not cover; pass extra_digest, a digest of "
                                        "those contents");
}

bool is_default_directory(const fs::path& directory) {
    const std::vector<std::string>& known = default_include_directories();
    return std::any_of(known.begin(), known.end(), [&directory](const std::string& folder) {
        std::error_code ignored;
        return fs::equivalent(folder, directory, ignored);
    });
}

bool is_same(const struct stat& left, const struct stat& right) {
    const auto is_same_time = [](const timespec& one, const timespec& other) {
        return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
    };
    return left.st_dev == right.st_dev && left.st_ino == right.st_ino &&
           left.st_size == right.st_size && is_same_time(left.st_mtim, right.st_mtim) &&
           is_same_time(left.st_ctim, right.st_ctim);
}

SeenFiles& seen_files() {
    static NeverDestroyed<SeenFiles> seen; // destructors may compile
    return *seen;
}

/// Reads a file unless it was read before and is unchanged; null if there is no such file.
std::shared_ptr<const SeenFile> look_at(const std::string& path) {
    // A file this young may change again without getting a new time.
    static constexpr time_t SETTLED_AFTER_S = 2;
    SeenFiles& seen = seen_files();
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return nullptr;
    }
    const bool is_absolute = path.starts_with('/'); // the rest depend on the working folder
    if (is_absolute) {
        const std::lock_guard lock(seen.mutex);
        if (const auto known = seen.files.find(path);
            known != seen.files.end() && is_same(known->second->status, status)) {
            return known->second;
        }
    }
    std::vector<std::byte> bytes;
    try {
        bytes = read_file(path);
    } catch (const std::system_error& error) {
        throw std::invalid_argument(
            std::string("the cache key needs the files that may be included: ") + error.what());
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    auto file = std::make_shared<SeenFile>();
    file->status = status;
    file->digest = sha256(text);
    file->includes = includes_in(text);
    if (is_absolute && ::time(nullptr) - status.st_ctim.tv_sec > SETTLED_AFTER_S) {
        const std::lock_guard lock(seen.mutex);
        if (seen.files.size() >= MAX_REMEMBERED_FILES) {
            seen.files.clear(); // those that still matter are read again
        }
        seen.files[path] = file;
    }
    return file;
}

} // namespace

} // namespace cuprum::detail
