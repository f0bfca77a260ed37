// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cuprum::emulator {

/// Items in the order in which they were added, each with a pointer as its key: found and removed
/// in constant time however many there are. `KeyOf` returns nullptr for an empty item. Not safe to
/// use from several threads, not even for reading.
template <typename Item, typename KeyOf>
class OrderedList {
public:
    using Key = std::invoke_result_t<KeyOf, const Item&>;

    [[nodiscard]] std::size_t size() const noexcept { return items_.size() - gaps_; }

    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

    /// Returns all items. Valid until the list changes.
    [[nodiscard]] const std::vector<Item>& items() const {
        if (gaps_ != 0) {
            close_gaps();
        }
        return items_;
    }

    /// Returns the item of a key, nullptr if there is none. Valid until the list changes.
    [[nodiscard]] Item* find(Key key) {
        const std::size_t place = place_of(key);
        return place == NONE ? nullptr : &items_[place];
    }

    [[nodiscard]] bool contains(Key key) const { return place_of(key) != NONE; }

    /// Adds an item whose key is not in the list.
    void add(Item item) {
        if (!places_.empty()) {
            places_.emplace(KeyOf{}(item), items_.size());
        }
        items_.push_back(std::move(item));
        if (places_.empty() && items_.size() > FEW) {
            note_places();
        }
    }

    /// Removes the item of a key; false if there is none.
    bool erase(Key key) {
        const std::size_t place = place_of(key);
        if (place == NONE) {
            return false;
        }
        if (places_.empty()) {
            items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(place));
            return true;
        }
        places_.erase(key);
        items_[place] = Item{};
        if (++gaps_ > items_.size() / 2) {
            close_gaps();
        }
        return true;
    }

    void clear() noexcept {
        items_.clear();
        places_.clear();
        gaps_ = 0;
    }

private:
    static constexpr std::size_t NONE = ~std::size_t{0};
    static constexpr std::size_t FEW = 16; // so many are searched faster than looked up

    [[nodiscard]] std::size_t place_of(Key key) const {
        if (!places_.empty()) {
            const auto found = places_.find(key);
            return found == places_.end() ? NONE : found->second;
        }
        for (std::size_t place = 0; place < items_.size(); ++place) {
            if (KeyOf{}(items_[place]) == key) {
                return place;
            }
        }
        return NONE;
    }

    void close_gaps() const {
        std::erase_if(items_, [](const Item& item) { return KeyOf{}(item) == nullptr; });
        gaps_ = 0;
        note_places();
    }

    void note_places() const {
        places_.clear();
        for (std::size_t place = 0; items_.size() > FEW && place < items_.size(); ++place) {
            places_.emplace(KeyOf{}(items_[place]), place);
        }
    }

    mutable std::vector<Item> items_;                     // with gaps where items were removed
    mutable std::size_t gaps_ = 0;                        // none while there are no places
    mutable std::unordered_map<Key, std::size_t> places_; // of all items, unless there are few
};

} // namespace cuprum::emulator
