// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/cache/key.hpp"

#include "device/device_state.hpp"
#include "driver/library.hpp"
#include "libraries/nvjitlink.hpp"
#include "libraries/nvrtc.hpp"
#include "libraries/nvvm.hpp"
#include "program/cache/digest.hpp"
#include "program/nvvm.hpp"
#include "program/source/includes.hpp"
#include "support/file.hpp"
#include "support/once.hpp"

#include <cuprum/compiler.hpp>
#include <cuprum/error.hpp>
#include <cuprum/linker.hpp>
#include <cuprum/program.hpp>
#include <cuprum/program_cache.hpp>

#include <time.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <vector>

namespace cuprum {

namespace {

// Change it when the meaning of a key's parts or of the cached bytes changes, so that older files
// are not read as new ones.
constexpr const char* SCHEMA = "cuprum program cache 6";

/// Returns a digest of libdevice, made once; a fixed text if it cannot be found.
std::string libdevice_digest() {
    try {
        static const std::string digest = detail::sha256(nvvm::libdevice());
        return digest;
    } catch (const LibraryNotFoundError&) {
        return "libdevice is absent";
    }
}

/// Returns an option without its dashes and its value.
std::string_view name_of(std::string_view option) {
    option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
    return option.substr(0, option.find('='));
}

/// Returns whether an option, of NVRTC or passed on to ptxas, makes it read further files.
bool reads_files(std::string_view option) {
    const std::string_view name = name_of(option);
    return option.starts_with("-I") || name == "include-path" || name == "include" ||
           name == "pre-include" || name.starts_with("pch") || name == "use-pch" ||
           option.find("-options-file") != std::string_view::npos ||
           option.find("-optf") != std::string_view::npos;
}

} // namespace

std::string make_program_cache_key(const ProgramCacheKeyParts& parts) {
    return detail::make_key(parts, detail::SourceFacts(parts.code),
                            detail::toolchain_of(parts.language));
}

detail::SourceFacts::SourceFacts(std::string_view code)
    : digest(sha256(code)), may_read_files(may_include(code)) {}

std::string detail::make_key(const ProgramCacheKeyParts& parts, const SourceFacts& facts,
                             std::string_view toolchain) {
    Sha256 hash;
    hash.add_field(SCHEMA);
    hash.add_field(toolchain);
    hash.add_field(to_string(parts.language));
    hash.add_field(to_string(parts.target));
    // A cubin for an emulated device also holds its PTX.
    const bool is_fat = parts.target == CodeType::Cubin && driver::is_device_emulated();
    hash.add_field(is_fat ? "fat" : "plain");
    hash.add_field(facts.digest);
    hash.add_field(parts.name);
    const auto add_all = [&hash](const char* label, const auto& texts, const auto& add) {
        hash.add_field(label);
        hash.add_field(std::to_string(texts.size()));
        for (const auto& text : texts) {
            add(text);
        }
    };
    const auto add_text = [&hash](const std::string& text) { hash.add_field(text); };
    const auto add_pair = [&hash](const std::pair<std::string, std::string>& pair) {
        hash.add_field(pair.first);
        hash.add_field(pair.second);
    };
    add_all("options", parts.compiler_options, add_text);
    std::vector<std::string> names(parts.name_expressions.begin(), parts.name_expressions.end());
    std::sort(names.begin(), names.end());
    add_all("names", names, add_text);
    add_all("sources", parts.extra_sources, add_pair);
    add_all("headers", parts.headers, add_pair);
    hash.add_field(parts.uses_libdevice ? libdevice_digest() : "");
    hash.add_field(parts.uses_default_include_path ? "" : "no default headers");
    const bool has_includes =
        parts.language == SourceType::Cxx &&
        (facts.may_read_files || !parts.headers.empty() || !parts.included_files.empty());
    hash.add_field(has_includes ? default_headers_fingerprint() : "");
    hash.add_field(parts.included_files);
    hash.add_field(parts.extra_digest.has_value() ? "digest" : "");
    hash.add_field(parts.extra_digest.value_or(std::string_view()));
    return hash.finish();
}

void check_cacheable(SourceType language, const ProgramOptions& options, bool has_extra_digest) {
    const auto reject = [has_extra_digest](const std::string& what) {
        if (!has_extra_digest) {
            throw std::invalid_argument(what + ", whose contents the cache key does not cover; "
                                               "pass extra_digest, a digest of those contents");
        }
    };
    for (const std::string& option : options.ptxas_options) {
        if (reads_files(option)) {
            reject("ProgramOptions ptxas_options has \"" + option + "\", which names a file");
        }
    }
    if (language != SourceType::Cxx) {
        return; // the options below are for NVRTC. Linkers write to their logs only.
    }
    const auto reject_output = [](const std::string& what) {
        throw std::invalid_argument(what + " writes a file, a side effect that a cache hit would "
                                           "skip; compile without a cache");
    };
    for (const auto& [field, is_set] :
         {std::pair{"create_pch", options.create_pch.has_value()},
          std::pair{"time", options.time.has_value()},
          std::pair{"fdevice_time_trace", options.fdevice_time_trace.has_value()}}) {
        if (is_set) {
            reject_output(std::string("ProgramOptions ") + field);
        }
    }
    for (const std::string& option : options.extra) {
        const std::string_view name = name_of(option);
        if (name == "create-pch" || name == "time" || name == "fdevice-time-trace") {
            reject_output("ProgramOptions extra has \"" + option + "\", which");
        }
    }
    for (const auto& [field, is_set] : {std::pair{"pch", options.pch.value_or(false)},
                                        std::pair{"use_pch", options.use_pch.has_value()},
                                        std::pair{"pch_dir", options.pch_dir.has_value()}}) {
        if (is_set) {
            reject(std::string("ProgramOptions ") + field + " names files");
        }
    }
    for (const std::string& option : options.extra) {
        if (reads_files(option)) {
            reject("ProgramOptions extra has \"" + option +
                   "\", which may name files (use include_path and pre_include)");
        }
    }
}

std::string included_files_digest(std::string_view code, const ProgramOptions& options) {
    return detail::dependency_digest(code, options);
}

} // namespace cuprum

namespace cuprum::detail {

namespace {

/// Returns the build of the library that holds a compiler; empty for a test's fake.
std::string build_of(CompilerBackend compiler) {
    switch (compiler) {
    case CompilerBackend::Nvrtc:
        return nvrtc::Library::is_replaced() ? "" : nvrtc::Library::loaded().build;
    case CompilerBackend::Nvvm:
        return nvvm::Library::is_replaced() ? "" : nvvm::Library::loaded().build;
    case CompilerBackend::NvJitLink:
        return nvjitlink::Library::is_replaced() ? "" : nvjitlink::Library::loaded().build;
    case CompilerBackend::Driver:
        return driver::is_library_loaded() ? file_identity(driver::driver_library().library.path)
                                           : "";
    }
    return {};
}

std::string describe(CompilerBackend compiler) {
    std::string text(to_string(compiler));
    try {
        text += " " + compiler_version(compiler);
        return text + " " + build_of(compiler);
    } catch (const Error& error) {
        // A compiler that does not answer has a key of its own, the same one next time.
        return text + " fails: " + std::string(to_string(error.domain())) + " " + error.name();
    }
}

bool is_replaced(CompilerBackend compiler) {
    return (compiler == CompilerBackend::Nvrtc && nvrtc::Library::is_replaced()) ||
           (compiler == CompilerBackend::Nvvm && nvvm::Library::is_replaced()) ||
           (compiler == CompilerBackend::NvJitLink && nvjitlink::Library::is_replaced());
}

} // namespace

std::string toolchain_of(SourceType language) {
    static constexpr std::size_t COMPILERS = 4;
    // Destructors of others may compile.
    static NeverDestroyed<std::array<Lazy<std::string>, COMPILERS>> known;
    const CompilerBackend compiler = language == SourceType::Cxx    ? CompilerBackend::Nvrtc
                                     : language == SourceType::Nvvm ? CompilerBackend::Nvvm
                                                                    : Linker::which_backend();
    if (is_replaced(compiler)) {
        return describe(compiler);
    }
    return known->at(static_cast<std::size_t>(compiler)).get([compiler] {
        return describe(compiler);
    });
}

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

bool is_default_directory(const fs::path& directory) {
    const std::vector<std::string>& known = default_include_directories();
    return std::any_of(known.begin(), known.end(), [&directory](const std::string& folder) {
        std::error_code ignored;
        return fs::equivalent(folder, directory, ignored);
    });
}

Walk::Walk(const ProgramOptions& options) {
    folders_.push_back(fs::path(options.name).parent_path());
    for (const std::string& folder : options.include_path) {
        if (!is_default_directory(folder)) {
            folders_.emplace_back(folder);
        }
    }
}

[[noreturn]] void raise_macro(const std::string& where) {
    throw std::invalid_argument(where + " includes a file that a macro names, whose contents the "
                                        "cache key does not cover; pass extra_digest, a digest of "
                                        "those contents");
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

SeenFiles& seen_files() {
    static NeverDestroyed<SeenFiles> seen; // destructors may compile
    return *seen;
}

bool is_same(const struct stat& left, const struct stat& right) {
    const auto is_same_time = [](const timespec& one, const timespec& other) {
        return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
    };
    return left.st_dev == right.st_dev && left.st_ino == right.st_ino &&
           left.st_size == right.st_size && is_same_time(left.st_mtim, right.st_mtim) &&
           is_same_time(left.st_ctim, right.st_ctim);
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

} // namespace cuprum::detail
