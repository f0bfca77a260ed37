// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/padded_code.hpp"

#include <cuprum/program_cache.hpp>

#include <list>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

namespace cuprum {

ProgramCache::~ProgramCache() = default;

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

} // namespace cuprum
