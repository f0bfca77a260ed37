// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "places/place.hpp"

#include "places/native_stack.hpp"
#include "places/python_stack.hpp"

#include <functional>
#include <mutex>
#include <unordered_set>

namespace cuprum::emulator::places {

namespace {

/// How many different places are kept. The limit protects programs with very many places, through
/// recursion or generated code, from running out of memory.
constexpr std::size_t MAX_PLACES = 1 << 16;
/// How many native frames a report shows.
constexpr std::size_t MAX_SHOWN = 4;

struct Hash {
    std::size_t operator()(const Place& place) const noexcept {
        std::size_t hash = std::hash<std::string>{}(place.python);
        for (std::size_t i = 0; i < place.frame_count; ++i) {
            hash = (hash ^ place.frames[i]) * 0x9e3779b97f4a7c15;
        }
        return hash ^ hash >> 32;
    }
};

/// The places of the process. Never destroyed, because the last report is written at exit.
struct Table {
    std::mutex mutex;
    std::unordered_set<Place, Hash> places;
};

Table& table() {
    static auto* instance = new Table;
    return *instance;
}

} // namespace

void set_recorded(std::uint8_t subjects) noexcept {
    recorded.store(subjects, std::memory_order_relaxed);
}

const Place* record() noexcept {
    try {
        Place place;
        place.frame_count = capture_native(place.frames);
        place.python = capture_python();
        Table& known = table();
        const std::lock_guard lock(known.mutex);
        if (const auto found = known.places.find(place); found != known.places.end()) {
            return &*found;
        }
        if (known.places.size() >= MAX_PLACES) {
            static const auto* one_too_many =
                new Place{.python = "at a place that was not kept, for there are " +
                                    std::to_string(MAX_PLACES) + " others"};
            return one_too_many;
        }
        return &*known.places.insert(std::move(place)).first;
    } catch (...) {
        return nullptr; // out of memory: the call itself will report it
    }
}

std::size_t count() noexcept {
    Table& known = table();
    const std::lock_guard lock(known.mutex);
    return known.places.size();
}

std::string to_text(const Place& place, std::string_view indent) {
    std::string text;
    const auto add = [&](std::string_view line) {
        text += '\n';
        text += indent;
        text += line;
    };
    const std::span frames(place.frames.data(), place.frame_count);
    for (const std::string& line : name_native(frames, MAX_SHOWN, !place.python.empty())) {
        add(line);
    }
    for (std::size_t at = 0; at < place.python.size();) {
        const std::size_t end = std::min(place.python.find('\n', at), place.python.size());
        add(std::string_view(place.python).substr(at, end - at));
        at = end + 1;
    }
    return text;
}

} // namespace cuprum::emulator::places
