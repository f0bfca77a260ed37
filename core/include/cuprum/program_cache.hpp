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

/// Keeps compiled code under keys. Implementations are safe for several threads.
class CUPRUM_API ProgramCache {
public:
    ProgramCache() = default;
    virtual ~ProgramCache();
    ProgramCache(const ProgramCache&) = delete;
    ProgramCache& operator=(const ProgramCache&) = delete;

    /// Returns what was put under a key, or nothing.
    [[nodiscard]] virtual std::optional<std::vector<std::byte>> get(std::string_view key) = 0;
    /// Keeps code under a key, replacing what was there. May drop other code to make room.
    virtual void put(std::string_view key, std::span<const std::byte> code) = 0;
    /// Removes what is under a key; tells whether there was something.
    virtual bool remove(std::string_view key) = 0;
    /// Returns how many pieces of code there are.
    [[nodiscard]] virtual std::size_t count() = 0;
    /// Removes everything.
    virtual void clear() = 0;
};

/// Keeps code in memory. Past its size limit it drops what was not used for longest.
class CUPRUM_API InMemoryProgramCache final : public ProgramCache {
public:
    /// `max_size_bytes` bounds the code; unset is no bound.
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
    friend struct detail::Access;

    [[nodiscard]] std::optional<detail::PaddedCode> load(std::string_view key);

    struct State;
    std::unique_ptr<State> state_;
};

/// Keeps code in files, for later processes and for others that run now.
///
/// Files appear whole or not at all, and carry a checksum: a damaged one counts as absent and is
/// replaced, with a warning. Past its size limit the cache drops what was not used for longest.
class CUPRUM_API FileStreamProgramCache final : public ProgramCache {
public:
    /// Uses a folder, made for the user alone if there is none; empty is default_path().
    ///
    /// Whoever can write to the folder decides what code runs. The default folder must be the
    /// user's own and closed to others; one that is named is used as it is, with a warning if
    /// others can write to it.
    /// @throws std::invalid_argument if `max_size_bytes` is 0, std::system_error (or its derived
    /// class std::filesystem::filesystem_error) if the folder cannot be used.
    explicit FileStreamProgramCache(std::string path = {},
                                    std::optional<std::size_t> max_size_bytes = std::nullopt);
    ~FileStreamProgramCache() override;

    [[nodiscard]] std::optional<std::vector<std::byte>> get(std::string_view key) override;
    void put(std::string_view key, std::span<const std::byte> code) override;
    bool remove(std::string_view key) override;
    [[nodiscard]] std::size_t count() override;
    void clear() override;
    /// Returns the size of all files, from the folder itself.
    [[nodiscard]] std::size_t bytes();

    [[nodiscard]] const std::string& path() const noexcept;
    /// Returns the file that holds, or would hold, the code of a key.
    [[nodiscard]] std::string file_of(std::string_view key) const;

    /// Returns CUPRUM_CACHE_DIR, else `cuprum/program-cache` in XDG_CACHE_HOME or `~/.cache`.
    [[nodiscard]] static std::string default_path();

private:
    friend struct detail::Access;

    [[nodiscard]] std::optional<detail::PaddedCode> load(std::string_view key);

    struct State;
    std::unique_ptr<State> state_;
};

/// Makes all programs use a cache that compile() is given none for; null ends that.
///
/// Programs that cannot be cached (see check_cacheable()), or that keep a source file for
/// debuggers, are compiled as without it, and so is everything, with a warning, if the cache fails.
/// Unless this is called, the environment variable CUPRUM_PROGRAM_CACHE decides: 1 is a
/// FileStreamProgramCache of at most 1 GiB in its default folder.
CUPRUM_API void set_default_program_cache(std::shared_ptr<ProgramCache> cache);

/// Returns the cache that programs use without being told, or null.
[[nodiscard]] CUPRUM_API std::shared_ptr<ProgramCache> default_program_cache();

/// Everything that decides the result of a compilation.
struct ProgramCacheKeyParts {
    std::string_view code;
    SourceType language = SourceType::Cxx;
    CodeType target = CodeType::Cubin;
    std::span<const std::string> compiler_options = {};
    std::string_view name = {};
    std::span<const std::string> name_expressions = {}; // in any order
    std::span<const std::pair<std::string, std::string>> extra_sources = {};
    std::span<const std::pair<std::string, std::string>> headers = {};
    bool uses_libdevice = false;
    bool uses_default_include_path = true;
    std::string_view included_files = {}; // from included_files_digest()
    std::optional<std::string_view> extra_digest = {};
};

/// Returns a key of 32 bytes: a SHA-256 over the parts, the compiler's version and, if the source
/// includes any, what identifies CUDA's headers.
[[nodiscard]] CUPRUM_API std::string make_program_cache_key(const ProgramCacheKeyParts& parts);

/// Returns a digest of the files that a C++ source may include through `include_path`,
/// `pre_include` and its own folder, and that those may include in turn; empty if there are none.
///
/// The texts are searched for directives. What a condition skips counts too: the digest may change
/// without need, but does not stay the same when one of the files is changed, made or deleted.
/// @throws std::invalid_argument if a macro gives the name of a file.
[[nodiscard]] CUPRUM_API std::string included_files_digest(std::string_view code,
                                                           const ProgramOptions& options);

/// Checks that a result may be cached: that compiling has no side effect which a hit would skip,
/// and that no option names files which the key does not cover, unless there is an `extra_digest`.
/// @throws std::invalid_argument that names the option.
CUPRUM_API void check_cacheable(SourceType language, const ProgramOptions& options,
                                bool has_extra_digest);

} // namespace cuprum
