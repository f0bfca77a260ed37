// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a race detector remembers about memory: the last thread that wrote each word, and the
// threads that have read it since.
//
// Most accesses cover whole words, so there is one cell per word. A word that is accessed in parts
// gets one cell per byte, because threads may legally write neighbouring bytes.
//
// A stamp identifies the thread, time and place of an access. A stamp type needs `time` (0: never),
// is_same_thread() and is_same_group().

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace cuprum::emulator::check {

constexpr std::uint32_t WORD_BYTES = 4;

template <typename Stamp>
struct Cell {
    Stamp write;
    // The last reader, the last earlier reader of the same group, and the last of another group.
    // These are not all readers, but the next writer nearly always must be ordered after one of
    // them.
    std::array<Stamp, 3> reads;
    std::uint32_t value = 0; // the value written
    bool has_value = false;
};

/// An earlier access that should be ordered before a later one but is not.
template <typename Stamp>
struct Conflict {
    Stamp other;
    bool was_write = false;
};

/// The cells of a contiguous memory region.
template <typename Stamp>
class Cells {
public:
    explicit Cells(std::size_t bytes) : words_((bytes + WORD_BYTES - 1) / WORD_BYTES) {}

    /// Makes room for more cells and keeps the existing ones.
    void grow(std::size_t bytes) {
        const std::size_t words = (bytes + WORD_BYTES - 1) / WORD_BYTES;
        if (words > words_.size()) {
            words_.resize(words);
        }
    }

    /// Forgets all accesses to a range.
    void forget(std::uint64_t offset, std::uint64_t bytes) {
        for (std::uint64_t word = offset / WORD_BYTES;
             word < (offset + bytes + WORD_BYTES - 1) / WORD_BYTES && word < words_.size();
             ++word) {
            words_[word] = {};
            pieces_.erase(word);
        }
    }

    /// Forgets all accesses.
    void clear() {
        std::fill(words_.begin(), words_.end(), Cell<Stamp>{});
        pieces_.clear();
    }

    /// Returns whether an access to whole words is free of conflicts, whatever it writes, and none
    /// of the words has been accessed in parts.
    template <typename IsOrdered>
    [[nodiscard]] bool is_free(std::uint64_t offset, std::uint32_t bytes, bool is_write,
                               IsOrdered is_ordered) const {
        if (!pieces_.empty()) {
            return false;
        }
        const Cell<Stamp>* const first = words_.data() + offset / WORD_BYTES;
        return std::all_of(first, first + bytes / WORD_BYTES, [&](const Cell<Stamp>& cell) {
            return !conflict(cell, is_write, std::nullopt, is_ordered);
        });
    }

    /// Returns the first write to bytes of the region for which `matches` returns true.
    template <typename Matches>
    [[nodiscard]] std::optional<Stamp> find_write(std::uint64_t offset, std::uint32_t bytes,
                                                  Matches matches) const {
        const std::uint64_t end = (offset + bytes + WORD_BYTES - 1) / WORD_BYTES;
        for (std::uint64_t word = offset / WORD_BYTES; word < end; ++word) {
            if (words_[word].write.time != 0 && matches(words_[word].write)) {
                return words_[word].write;
            }
            if (is_split(word)) {
                for (const Cell<Stamp>& piece : pieces_.find(word)->second) {
                    if (piece.write.time != 0 && matches(piece.write)) {
                        return piece.write;
                    }
                }
            }
        }
        return std::nullopt;
    }

    /// Records an access to whole words for which is_free() returned true.
    void record_words(std::uint64_t offset, std::uint32_t bytes, bool is_write,
                      const std::uint8_t* data, const Stamp& now) {
        for (std::uint32_t done = 0; done < bytes; done += WORD_BYTES) {
            std::optional<std::uint32_t> value;
            if (data != nullptr) {
                value = word_at(data + done);
            }
            record(words_[(offset + done) / WORD_BYTES], is_write, value, now);
        }
    }

    /// Records an access to bytes inside the region, and returns a conflict if there is one.
    ///
    /// `data` holds the bytes that are written, or is nullptr. Two threads that write the same
    /// value do not conflict. `is_ordered` returns whether the access of an earlier stamp is
    /// ordered before this one.
    template <typename IsOrdered>
    std::optional<Conflict<Stamp>> access(std::uint64_t offset, std::uint32_t bytes, bool is_write,
                                          const std::uint8_t* data, const Stamp& now,
                                          IsOrdered is_ordered) {
        std::optional<Conflict<Stamp>> found;
        const auto visit = [&](Cell<Stamp>& cell, std::optional<std::uint32_t> value) {
            if (!found) {
                found = conflict(cell, is_write, value, is_ordered);
            }
            record(cell, is_write, value, now);
        };
        for (std::uint32_t done = 0; done < bytes;) {
            const std::uint64_t at = offset + done;
            const std::uint64_t word = at / WORD_BYTES;
            const bool is_whole = at % WORD_BYTES == 0 && bytes - done >= WORD_BYTES;
            if (is_whole && (is_write || !is_split(word))) {
                std::optional<std::uint32_t> value;
                if (data != nullptr) {
                    value = word_at(data + done);
                }
                join(word, is_write, value, is_ordered, found);
                visit(words_[word], value);
                done += WORD_BYTES;
            } else {
                std::optional<std::uint32_t> value;
                if (data != nullptr) {
                    value = data[done];
                }
                visit(split(word)[at % WORD_BYTES], value);
                ++done;
            }
        }
        return found;
    }

private:
    using Pieces = std::array<Cell<Stamp>, WORD_BYTES>;

    [[nodiscard]] static std::uint32_t word_at(const std::uint8_t* data) {
        std::uint32_t value = 0;
        for (std::uint32_t i = 0; i < WORD_BYTES; ++i) {
            value |= std::uint32_t{data[i]} << (8 * i);
        }
        return value;
    }

    [[nodiscard]] bool is_split(std::uint64_t word) const {
        return !pieces_.empty() && pieces_.contains(word);
    }

    /// Returns the cells of a word's bytes. The first call derives them from the word's own cell.
    Pieces& split(std::uint64_t word) {
        const auto [entry, is_new] = pieces_.try_emplace(word);
        if (is_new) {
            entry->second.fill(words_[word]);
            for (std::uint32_t i = 0; i < WORD_BYTES; ++i) {
                entry->second[i].value = words_[word].value >> (8 * i) & 0xff;
            }
        }
        return entry->second;
    }

    /// Removes the byte cells of a word before a write to the whole word.
    template <typename IsOrdered>
    void join(std::uint64_t word, bool is_write, std::optional<std::uint32_t> value,
              IsOrdered is_ordered, std::optional<Conflict<Stamp>>& found) {
        if (!is_split(word)) {
            return;
        }
        Pieces& pieces = pieces_.find(word)->second;
        for (std::uint32_t i = 0; i < WORD_BYTES && !found; ++i) {
            std::optional<std::uint32_t> byte;
            if (value) {
                byte = *value >> (8 * i) & 0xff;
            }
            found = conflict(pieces[i], is_write, byte, is_ordered);
        }
        pieces_.erase(word);
        words_[word] = {};
    }

    template <typename IsOrdered>
    static std::optional<Conflict<Stamp>> conflict(const Cell<Stamp>& cell, bool is_write,
                                                   std::optional<std::uint32_t> value,
                                                   IsOrdered is_ordered) {
        if (cell.write.time != 0 && !is_ordered(cell.write)) {
            const bool is_same = is_write && value && cell.has_value && cell.value == *value;
            if (!is_same) {
                return Conflict<Stamp>{cell.write, true};
            }
        }
        if (is_write) {
            for (const Stamp& read : cell.reads) {
                if (read.time != 0 && !is_ordered(read)) {
                    return Conflict<Stamp>{read, false};
                }
            }
        }
        return std::nullopt;
    }

    static void record(Cell<Stamp>& cell, bool is_write, std::optional<std::uint32_t> value,
                       const Stamp& now) {
        if (is_write) {
            cell.write = now;
            cell.has_value = value.has_value();
            cell.value = value.value_or(0);
            cell.reads = {};
            return;
        }
        auto& [last, same_group, other_group] = cell.reads;
        if (last.time != 0 && !last.is_same_thread(now)) {
            if (last.is_same_group(now)) {
                same_group = last;
            } else {
                other_group = last;
                same_group = {};
            }
        }
        last = now;
    }

    std::vector<Cell<Stamp>> words_;
    std::unordered_map<std::uint64_t, Pieces> pieces_; // of words that were accessed in parts
};

} // namespace cuprum::emulator::check
