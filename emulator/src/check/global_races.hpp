// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Races on device memory between the blocks of one grid.
//
// Blocks order their accesses through memory. One block publishes its work (a fence or a release)
// and sets a flag; another block sees the flag and continues. The detector cannot know which flag
// belongs to which data. So a block that makes any atomic, volatile or acquiring access is assumed
// to know everything that was published before. A report is therefore never wrong, but a race
// between blocks that also synchronise with each other may stay unseen.

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

class NodeAccesses;

/// What one grid knows about its blocks, and which findings have been reported for it.
class GridShadow {
public:
    /// `describe_launch` describes the launch site of the grid; it may be empty. `accesses` records
    /// what a node of a graph accesses; it may be nullptr.
    explicit GridShadow(std::function<std::string()> describe_launch = {},
                        NodeAccesses* accesses = nullptr);

    /// Returns where plain accesses to device memory are recorded, or nullptr.
    [[nodiscard]] NodeAccesses* accesses() const noexcept { return accesses_; }

    /// Describes the launch site of the grid. Each line starts with a line break.
    [[nodiscard]] std::string describe_launch() const {
        return describe_launch_ ? describe_launch_() : std::string{};
    }

    /// Returns whether a finding is the first one at an instruction, and remembers it.
    [[nodiscard]] bool is_news(std::uint32_t instruction);

private:
    friend class GlobalRaces;

    static constexpr std::size_t REMEMBERED = 4;

    struct Order {
        std::array<std::uint32_t, REMEMBERED> releases{}; // times, newest first
        std::uint32_t acquired = 0;
    };

    [[nodiscard]] bool is_ordered(std::uint32_t earlier, std::uint32_t time,
                                  std::uint32_t later) const;

    std::function<std::string()> describe_launch_;
    NodeAccesses* accesses_;
    std::uint32_t number_; // number of the grid in the process
    std::uint32_t now_ = 1;
    std::unordered_map<std::uint32_t, Order> orders_; // by block
    std::mutex mutex_;                                // protects the members below
    std::unordered_set<std::uint32_t> reported_;
};

/// The record of all accesses to device memory. Safe to use from several workers.
class GlobalRaces {
public:
    /// The thread, time and place of an access.
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

    /// Records an access. Fills in the grid and the time, which `who` lacks.
    [[nodiscard]] std::optional<Conflict<Stamp>> access(GridShadow& grid, Stamp who,
                                                        std::uint64_t address, std::uint32_t bytes,
                                                        bool is_write, const std::uint8_t* data);

    /// Records the accesses of `lanes` adjacent lanes with `bytes` each; `who` is the first lane.
    /// Returns false and records nothing if one of them conflicts with an earlier access, or if
    /// they do not lie in one page.
    [[nodiscard]] bool access_lanes(GridShadow& grid, Stamp who, std::uint64_t address,
                                    std::uint32_t bytes, std::uint32_t lanes, bool is_write,
                                    const std::uint8_t* data);

    /// Records that a block has published its work so far.
    void release(GridShadow& grid, std::uint32_t block);

    /// Records that a block has seen what other blocks have published.
    void acquire(GridShadow& grid, std::uint32_t block);

    /// Forgets all accesses to memory that is allocated anew.
    void forget(std::uint64_t address, std::uint64_t bytes);

private:
    static constexpr std::uint64_t PAGE_BYTES = 4096;
    /// The most pages that are remembered. Beyond it, accesses and their races are forgotten.
    static constexpr std::size_t MAX_PAGES = 8192;

    using Page = Cells<Stamp>;

    [[nodiscard]] static bool is_ordered_before(const GridShadow& grid, const Stamp& earlier,
                                                const Stamp& later);
    [[nodiscard]] Page& page_of(std::uint64_t address);

    std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    std::vector<std::unique_ptr<Page>> spare_; // for reuse: memory from the system is slow
};

} // namespace cuprum::emulator::check
