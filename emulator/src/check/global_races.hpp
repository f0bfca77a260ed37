// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Races on device memory between the blocks of one grid.
//
// Blocks order their accesses through memory: one publishes what it has done (a fence or a release)
// and sets a flag, another sees the flag and goes on. Which flag belongs to which data cannot be
// known, so a block that looks at any flag, that is, makes an atomic, volatile or acquiring access,
// is taken to know all that was published before. So a report is never wrong, but a race between
// blocks that also talk to each other may stay unseen.

#pragma once

#include "check/cells.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace cuprum::emulator::check {

/// What one grid knows of its blocks, and what has been reported of it.
class GridShadow {
public:
    /// `describe_launch` says who launched the grid; it may be empty.
    explicit GridShadow(std::function<std::string()> describe_launch = {});

    /// Says who launched the grid, in lines that each start with a line break.
    [[nodiscard]] std::string describe_launch() const {
        return describe_launch_ ? describe_launch_() : std::string{};
    }

    /// Returns whether a finding at an instruction is the first there.
    [[nodiscard]] bool is_news(std::uint32_t instruction);

private:
    friend class GlobalRaces;

    static constexpr std::size_t REMEMBERED = 4;

    struct Order {
        std::array<std::uint32_t, REMEMBERED> releases{}; // when, newest first
        std::uint32_t acquired = 0;
    };

    [[nodiscard]] bool is_ordered(std::uint32_t earlier, std::uint32_t time,
                                  std::uint32_t later) const;

    std::function<std::string()> describe_launch_;
    std::uint32_t number_; // of the grid in the process
    std::uint32_t now_ = 1;
    std::unordered_map<std::uint32_t, Order> orders_; // by block
    std::mutex mutex_;                                // of what follows
    std::unordered_set<std::uint32_t> reported_;
};

/// Remembers the accesses to device memory. Safe to use from several workers.
class GlobalRaces {
public:
    /// Who accessed memory, when and where.
    struct Stamp {
        std::uint32_t grid = 0;
        std::uint32_t time = 0;
        std::uint32_t block = 0;
        std::uint32_t thread : 10 = 0; // in the block
        std::uint32_t instruction : 22 = 0;

        [[nodiscard]] bool is_same_thread(const Stamp& other) const {
            return block == other.block && grid == other.grid;
        }

        [[nodiscard]] bool is_same_group(const Stamp& other) const { return is_same_thread(other); }
    };

    /// Records an access; `who` lacks grid and time, which are filled in here.
    [[nodiscard]] std::optional<Conflict<Stamp>> access(GridShadow& grid, Stamp who,
                                                        std::uint64_t address, std::uint32_t bytes,
                                                        bool is_write, const std::uint8_t* data);

    /// Records the accesses of `lanes` lanes, `bytes` each and side by side, where none conflicts
    /// with an earlier one; `who` is the first. Returns false, with nothing recorded, where one
    /// does or where they do not lie in one page.
    [[nodiscard]] bool access_lanes(GridShadow& grid, Stamp who, std::uint64_t address,
                                    std::uint32_t bytes, std::uint32_t lanes, bool is_write,
                                    const std::uint8_t* data);

    /// Records that a block has published what it has done so far.
    void release(GridShadow& grid, std::uint32_t block);

    /// Records that a block has seen what others have published.
    void acquire(GridShadow& grid, std::uint32_t block);

    /// Forgets the accesses to memory that begins a new life.
    void forget(std::uint64_t address, std::uint64_t bytes);

private:
    static constexpr std::uint64_t PAGE_BYTES = 4096;
    /// What is remembered may take this many pages; then it is forgotten, and races with it.
    static constexpr std::size_t MAX_PAGES = 8192;

    using Page = Cells<Stamp>;

    [[nodiscard]] static bool is_ordered_before(const GridShadow& grid, const Stamp& earlier,
                                                const Stamp& later);
    [[nodiscard]] Page& page_of(std::uint64_t address);

    std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::vector<std::unique_ptr<Page>> spare_; // to be used again: memory from the system is slow
};

} // namespace cuprum::emulator::check
