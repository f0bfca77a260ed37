// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/packing.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"
#include "support/shared_library.hpp"
#include "support/warn.hpp"

#include <cuprum/program_cache.hpp>

#include <cstddef>
#include <exception>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace cuprum {

ProgramCache::~ProgramCache() = default;

std::optional<detail::PaddedCode> ProgramCache::load(std::string_view key) {
    const std::optional<std::vector<std::byte>> code = get(key);
    return code.has_value() ? std::optional(detail::PaddedCode(*code)) : std::nullopt;
}

/// The code, most recently used first, and the place of each key.
struct InMemoryProgramCache::State {
    struct Entry {
        std::string key;
        std::vector<std::byte> code;
    };

    std::mutex mutex; // guards what follows
    std::list<Entry> entries;
    std::unordered_map<std::string_view, std::list<Entry>::iterator>
        places; // keys point into entries
    std::size_t bytes = 0;
    std::optional<std::size_t> limit;

    /// Returns an entry and marks it as most recently used; null if there is none.
    [[nodiscard]] const Entry* use(std::string_view key) {
        const auto found = places.find(key);
        if (found == places.end()) {
            return nullptr;
        }
        entries.splice(entries.begin(), entries, found->second);
        return &*found->second;
    }

    void erase(std::list<Entry>::iterator entry) {
        bytes -= entry->code.size();
        places.erase(entry->key);
        entries.erase(entry);
    }
};

InMemoryProgramCache::InMemoryProgramCache(std::optional<std::size_t> max_size_bytes)
    : state_(std::make_unique<State>()) {
    if (max_size_bytes == std::size_t{0}) {
        throw std::invalid_argument("max_size_bytes is 0; expected a positive number, or none for "
                                    "no limit");
    }
    state_->limit = max_size_bytes;
}

InMemoryProgramCache::~InMemoryProgramCache() = default;

std::optional<std::vector<std::byte>> InMemoryProgramCache::get(std::string_view key) {
    const std::lock_guard lock(state_->mutex);
    const State::Entry* const entry = state_->use(key);
    return entry != nullptr ? std::optional(entry->code) : std::nullopt;
}

std::optional<detail::PaddedCode> InMemoryProgramCache::load(std::string_view key) {
    const std::lock_guard lock(state_->mutex);
    const State::Entry* const entry = state_->use(key);
    return entry != nullptr ? std::optional(detail::PaddedCode(entry->code)) : std::nullopt;
}

void InMemoryProgramCache::put(std::string_view key, std::span<const std::byte> code) {
    State::Entry entry{std::string(key), {code.begin(), code.end()}};
    const std::lock_guard lock(state_->mutex);
    if (const auto found = state_->places.find(key); found != state_->places.end()) {
        state_->erase(found->second);
    }
    state_->entries.push_front(std::move(entry));
    state_->places.emplace(state_->entries.front().key, state_->entries.begin());
    state_->bytes += code.size();
    while (state_->limit.has_value() && state_->bytes > *state_->limit) {
        state_->erase(std::prev(state_->entries.end()));
    }
}

bool InMemoryProgramCache::remove(std::string_view key) {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->places.find(key);
    if (found == state_->places.end()) {
        return false;
    }
    state_->erase(found->second);
    return true;
}

std::size_t InMemoryProgramCache::count() {
    const std::lock_guard lock(state_->mutex);
    return state_->entries.size();
}

void InMemoryProgramCache::clear() {
    const std::lock_guard lock(state_->mutex);
    state_->places.clear();
    state_->entries.clear();
    state_->bytes = 0;
}

std::size_t InMemoryProgramCache::bytes() {
    const std::lock_guard lock(state_->mutex);
    return state_->bytes;
}

// The default cache of programs.

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
