// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The default cache of programs.

#include "support/never_destroyed.hpp"
#include "support/quiet_lock.hpp"
#include "support/shared_library.hpp"
#include "support/warn.hpp"

#include <cuprum/program_cache.hpp>

#include <cstddef>
#include <exception>
#include <mutex>
#include <string>

namespace cuprum {

namespace {

constexpr std::size_t MAX_BYTES = std::size_t{1}
                                  << 30; // of the cache that the environment asks for

struct DefaultCache {
    std::mutex mutex;
    bool is_settled = false; // the environment was read, or the program set a cache
    std::shared_ptr<ProgramCache> cache;
};

DefaultCache& instance() {
    static detail::NeverDestroyed<DefaultCache> only; // programs may be compiled at exit
    return *only;
}

/// Returns a cache in the default folder if the environment asks for one.
std::shared_ptr<ProgramCache> from_environment() {
    const std::string value = detail::environment("CUPRUM_PROGRAM_CACHE");
    if (value.empty() || value == "0") {
        return nullptr;
    }
    try {
        return std::make_shared<FileStreamProgramCache>(std::nullopt, MAX_BYTES);
    } catch (const std::exception& error) {
        detail::warn(WarningKind::Degraded,
                     std::string("CUPRUM_PROGRAM_CACHE is set, but the cache cannot be opened: ") +
                         error.what());
        return nullptr;
    }
}

} // namespace

void set_default_program_cache(std::shared_ptr<ProgramCache> cache) {
    DefaultCache& only = instance();
    const std::lock_guard lock(only.mutex);
    only.is_settled = true;
    only.cache.swap(cache); // the old cache is destroyed after the lock
}

std::shared_ptr<ProgramCache> default_program_cache() {
    DefaultCache& only = instance();
    const detail::QuietLock lock(only.mutex); // opening a folder may warn
    if (!only.is_settled) {
        only.cache = from_environment();
        only.is_settled = true;
    }
    return only.cache;
}

} // namespace cuprum
