// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/compiler.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/object_code.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuprum {

struct ProgramOptions;

namespace detail {
struct Access;
class PaddedCode;
} // namespace detail

/// A store of compiled code under keys. Implementations are thread-safe.
///
/// @code
/// const std::unique_ptr<cuprum::ProgramCache> cache =
///     std::make_unique<cuprum::InMemoryProgramCache>();
/// const cuprum::Program program("__global__ void nothing() {}");
/// const auto code = program.compile(cuprum::CodeType::Cubin, {.cache = cache.get()});
/// assert(cache->count() == 1);
/// @endcode
class CUPRUM_API ProgramCache {
public:
    ProgramCache() = default;
    virtual ~ProgramCache();
    ProgramCache(const ProgramCache&) = delete;
    ProgramCache& operator=(const ProgramCache&) = delete;

    /// Returns the code under a key, or nothing.
    [[nodiscard]] virtual std::optional<std::vector<std::byte>> get(std::string_view key) = 0;
    /// Stores code under a key, replacing any other. May drop other code to make room.
    virtual void put(std::string_view key, std::span<const std::byte> code) = 0;
    /// Removes the code under a key. Returns false if there was none.
    virtual bool remove(std::string_view key) = 0;
    /// Returns how many pieces of code there are.
    [[nodiscard]] virtual std::size_t count() = 0;
    /// Removes everything.
    virtual void clear() = 0;

private:
    friend struct detail::Access;

    /// Returns what get() does, in memory that object code takes over.
    [[nodiscard]] virtual std::optional<detail::PaddedCode> load(std::string_view key);
};

/// A cache in memory. Beyond its size limit it drops the least recently used code.
///
/// @code
/// cuprum::InMemoryProgramCache cache(64 << 20);
/// const cuprum::Program program("__global__ void nothing() {}");
/// const auto first = program.compile(cuprum::CodeType::Cubin, {.cache = &cache});
/// const auto again = program.compile(cuprum::CodeType::Cubin, {.cache = &cache}); // not compiled
/// @endcode
class CUPRUM_API InMemoryProgramCache final : public ProgramCache {
public:
    /// `max_size_bytes` limits the size of all code; unset means no limit.
    /// @throws std::invalid_argument if it is 0.
    explicit InMemoryProgramCache(std::optional<std::size_t> max_size_bytes = std::nullopt);
    ~InMemoryProgramCache() override;

    [[nodiscard]] std::optional<std::vector<std::byte>> get(std::string_view key) override;
    void put(std::string_view key, std::span<const std::byte> code) override;
    bool remove(std::string_view key) override;
    [[nodiscard]] std::size_t count() override;
    void clear() override;
    /// Returns the size of all code.
    [[nodiscard]] std::size_t bytes();

private:
    [[nodiscard]] std::optional<detail::PaddedCode> load(std::string_view key) override;

    struct State;
    std::unique_ptr<State> state_;
};

/// A cache in files, shared with other processes, now and later.
///
/// Files appear complete or not at all and carry a checksum. A damaged file counts as absent and is
/// replaced, with a warning. Beyond its size limit the cache drops the least recently used code.
/// Each process counts what it wrote, so several together may pass the limit until one opens the
/// folder.
///
/// @code
/// cuprum::FileStreamProgramCache cache("cache", 1 << 30);
/// const cuprum::Program program("__global__ void nothing() {}");
/// const auto code = program.compile(cuprum::CodeType::Cubin, {.cache = &cache});
/// @endcode
class CUPRUM_API FileStreamProgramCache final : public ProgramCache {
public:
    /// Uses a folder; unset means default_path(). A new folder is private to the user.
    ///
    /// Anyone who can write to the folder can decide what code runs. The default folder must belong
    /// to the user and be closed to others. Another folder is used with a warning if others can
    /// write to it, and its files are shared: they get the permissions of the folder.
    /// @throws std::invalid_argument if `path` is empty or `max_size_bytes` is 0, std::system_error
    /// (or its derived class std::filesystem::filesystem_error) if the folder cannot be used.
    explicit FileStreamProgramCache(std::optional<std::string> path = std::nullopt,
                                    std::optional<std::size_t> max_size_bytes = std::nullopt);
    ~FileStreamProgramCache() override;

    [[nodiscard]] std::optional<std::vector<std::byte>> get(std::string_view key) override;
    void put(std::string_view key, std::span<const std::byte> code) override;
    bool remove(std::string_view key) override;
    [[nodiscard]] std::size_t count() override;
    void clear() override;
    /// Returns the size of all files, from the folder itself.
    [[nodiscard]] std::size_t bytes();

    /// Returns the folder that holds the entries.
    [[nodiscard]] const std::string& path() const noexcept;
    /// Returns the path of the file for a key, whether it exists or not.
    [[nodiscard]] std::string file_of(std::string_view key) const;

    /// Returns CUPRUM_CACHE_DIR, else `cuprum/program-cache` in XDG_CACHE_HOME or `~/.cache`.
    [[nodiscard]] static std::string default_path();

private:
    [[nodiscard]] std::optional<detail::PaddedCode> load(std::string_view key) override;

    struct State;
    std::unique_ptr<State> state_;
};

/// Sets the cache for every compile() that names none; null turns it off.
///
/// Programs that cannot be cached (see check_cacheable()), or that keep a source file for
/// debuggers, compile without it. If the cache fails in any way, the program compiles without it
/// and gives one warning. Until this is called, the environment variable CUPRUM_PROGRAM_CACHE
/// decides: 1 means a FileStreamProgramCache of at most 1 GiB in its default folder.
CUPRUM_API void set_default_program_cache(std::shared_ptr<ProgramCache> cache);

/// Returns the default cache, or null.
[[nodiscard]] CUPRUM_API std::shared_ptr<ProgramCache> default_program_cache();

/// Everything that decides the result of a compilation.
struct ProgramCacheKeyParts {
    std::string_view code;                              // the source
    SourceType language = SourceType::Cxx;              // its language
    CodeType target = CodeType::Cubin;                  // what it is compiled to
    std::span<const std::string> compiler_options = {}; // as the compiler takes them
    std::string_view name = {};                         // the source's name
    std::span<const std::string> name_expressions = {}; // in any order
    /// NVVM: further modules, as (name, IR).
    std::span<const std::pair<std::string, std::string>> extra_sources = {};
    std::span<const std::pair<std::string, std::string>> headers = {}; // as (name, text)
    bool uses_libdevice = false;           // NVVM: CUDA's mathematical functions are linked
    bool uses_default_include_path = true; // the compiler finds CUDA's headers by itself
    std::string_view included_files = {};  // from included_files_digest()
    std::optional<std::string_view> extra_digest = {}; // what else decides the result
};

/// Returns a key of 32 bytes: a SHA-256 of the parts, of the very build of the compiler (its
/// version and the build id of its file) and, if the source includes headers, of what identifies
/// CUDA's.
[[nodiscard]] CUPRUM_API std::string make_program_cache_key(const ProgramCacheKeyParts& parts);

/// Returns a digest of the files that a C++ source may include through `include_path`,
/// `pre_include` and its own folder, and that those may include in turn; empty if there are none.
///
/// The texts are searched for directives without evaluating conditions. So the digest may change
/// without need, but it always changes when one of the files is changed, created or deleted.
/// @throws std::invalid_argument if a macro names a file.
[[nodiscard]] CUPRUM_API std::string included_files_digest(std::string_view code,
                                                           const ProgramOptions& options);

/// Checks that a result can be cached: compiling has no side effect that a hit would skip, and no
/// option names files that the key does not cover, unless there is an `extra_digest`.
/// @throws std::invalid_argument that names the option.
CUPRUM_API void check_cacheable(SourceType language, const ProgramOptions& options,
                                bool has_extra_digest);

} // namespace cuprum
