// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compiled kernels in files, so that later processes need not compile them again.
//
// A file is named by the digest of its key: all that decides what the compiler writes. It holds a
// mark, the digest of key and contents, and the contents. Files appear complete, by renaming. The
// ones that were not used for longest are removed when there are too many.

#pragma once

#include "jit/plugin.hpp"
#include "usage/folder.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::emulator::jit {

/// Returns all that decides what a plug-in of this build compiles, as bytes.
[[nodiscard]] std::string key_of(const Request& request, const std::string& build);

class ObjectCache {
public:
    static constexpr std::uint64_t MAX_BYTES = std::uint64_t{256} << 20;

    /// Opens a folder, which must be private to the user: code from it runs in this process.
    ObjectCache(std::string folder, Digest (*digest)(std::string_view bytes),
                std::uint64_t max_bytes = MAX_BYTES);

    /// Returns why the folder cannot be used; else an empty text.
    [[nodiscard]] const std::string& problem() const noexcept { return folder_.problem(); }

    /// Returns the object that was stored with this key, if there is one. Removes a file that is
    /// damaged, and says so in `note`.
    [[nodiscard]] std::optional<Object> load(const std::string& key, std::string& note);

    /// Stores an object. Returns why it cannot, or an empty text.
    [[nodiscard]] std::string store(const std::string& key, const Object& object);

    void remove(const std::string& key) noexcept;

private:
    [[nodiscard]] std::string name_of(const std::string& key) const;
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const;
    void make_room();

    usage::Folder folder_;
    Digest (*digest_)(std::string_view bytes);
    std::uint64_t max_bytes_;
    std::mutex mutex_;
    std::optional<std::uint64_t>
        used_bytes_; // of the folder, about; unknown before the first store
};

/// Returns the folder that CUPRUM_EMULATOR_JIT_CACHE names, or the user's own; empty if compiled
/// kernels are not to be kept.
[[nodiscard]] std::string object_cache_folder();

} // namespace cuprum::emulator::jit
