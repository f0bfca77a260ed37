// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "check/handlers.hpp"

#include "check/access.hpp"
#include "check/block_shadow.hpp"
#include "interp/random.hpp"

#include <bit>
#include <cstdio>
#include <cstring>
#include <type_traits>

namespace cuprum::emulator::check {

using bytecode::Instruction;
using bytecode::Operand;
using bytecode::WARP_SIZE;

namespace {

/// In a random schedule, one in this many accesses stops its warp.
constexpr std::uint32_t SHAKE_INTERVAL = 32;
/// The most bytes that a lane writes.
constexpr std::size_t MAX_LANE_BYTES = 32;

template <typename T>
T lane_value(const WarpContext& warp, Operand operand, std::uint32_t lane) {
    T value{};
    std::memcpy(&value, warp.at(operand) + lane * sizeof(T), sizeof(T));
    return value;
}

BlockShadow& shadow_of(const WarpContext& warp) {
    return static_cast<BlockShadow&>(*warp.block->observer);
}

std::uint64_t address_of(const WarpContext& warp, const Instruction& at, std::uint32_t lane) {
    if ((at.tag & ACCESS_NARROW) != 0) { // 32-bit addresses wrap at 32 bits
        return lane_value<std::uint32_t>(warp, at.src[0], lane) +
               static_cast<std::uint32_t>(at.immediate);
    }
    return lane_value<std::uint64_t>(warp, at.src[0], lane) +
           static_cast<std::uint64_t>(at.immediate);
}

std::size_t lane_bytes_of(const Instruction& at) {
    return std::size_t{4} << (at.tag >> ACCESS_WIDTH_SHIFT & 3);
}

/// Returns the lanes of source number `index`, which may be in the kernel's operand list.
const std::byte* source(const WarpContext& warp, const Instruction& at, std::size_t index) {
    constexpr std::size_t own = std::extent_v<decltype(Instruction::src)>;
    return warp.at(index < own ? at.src[index]
                               : warp.block->kernel->operands[at.extra + index - own]);
}

/// Collects the bytes that a lane writes.
void read_values(const WarpContext& warp, const Instruction& at, std::uint32_t lane,
                 std::uint32_t count, std::uint8_t* data) {
    const std::size_t lane_bytes = lane_bytes_of(at);
    for (std::uint32_t i = 0; i < count; ++i) {
        std::memcpy(data + std::size_t{i} * at.access_bytes,
                    source(warp, at, 1 + i) + lane * lane_bytes, at.access_bytes);
    }
}

/// The most bytes of a matrix that one instruction writes: 16 x 16 elements of 64 bits.
constexpr std::size_t MAX_MATRIX_BYTES = 2048;

/// Collects the rows of a tile of 8 x 8 elements of 16 bits: `lanes` holds one of its rows, or of
/// its columns, after the other.
void read_tile(const std::byte* lanes, bool is_transposed, std::uint8_t* to) {
    constexpr std::size_t side = 8;
    constexpr std::size_t element = 2;
    for (std::size_t i = 0; i < side * side; ++i) {
        const std::size_t from = is_transposed ? i % side * side + i / side : i;
        std::memcpy(to + i * element, lanes + from * element, element);
    }
}

/// Collects the 8 rows of 16 bytes of a tile in the layout of accumulators, which is transposed.
void read_byte_tile(const std::byte* lanes, std::uint8_t* to) {
    constexpr std::size_t row_bytes = 16;
    for (std::size_t lane = 0; lane < WARP_SIZE; ++lane) {
        for (std::size_t i = 0; i < 4; ++i) {
            to[(lane % 4 * 2 + i % 2) * row_bytes + lane / 4 + i / 2 * 8] =
                static_cast<std::uint8_t>(lanes[lane * 4 + i]);
        }
    }
}

/// Collects the lines that wmma.store writes, `count` elements each.
void read_fragment(const WarpContext& warp, const Instruction& at, std::uint32_t layout,
                   std::uint32_t lines, std::uint32_t count, std::uint8_t* to) {
    std::uint8_t image[MAX_MATRIX_BYTES];
    const std::size_t lane_bytes = lane_bytes_of(at);
    const std::size_t registers =
        std::size_t{lines} * count * at.access_bytes / (lane_bytes * WARP_SIZE);
    const std::size_t together = (layout & LAYOUT_PAIRED) != 0 ? 2 : 1; // adjacent in the image
    for (std::size_t i = 0; i < registers; ++i) {
        const std::byte* const from = source(warp, at, 2 + i);
        for (std::size_t lane = 0; lane < WARP_SIZE; ++lane) {
            const std::size_t word =
                i / together * together * WARP_SIZE + lane * together + i % together;
            std::memcpy(image + word * lane_bytes, from + lane * lane_bytes, lane_bytes);
        }
    }
    const bool is_transposed = (layout & LAYOUT_TRANSPOSED) != 0;
    for (std::size_t i = 0; i < std::size_t{lines} * count; ++i) {
        const std::size_t from = is_transposed ? i % count * lines + i / count : i;
        std::memcpy(to + i * at.access_bytes, image + from * at.access_bytes, at.access_bytes);
    }
}

/// Collects what the lanes write together.
void read_matrix(const WarpContext& warp, const Instruction& at, std::uint32_t layout,
                 std::uint32_t lines, std::uint32_t count, std::uint8_t* to) {
    if ((layout & LAYOUT_FRAGMENT) != 0) {
        read_fragment(warp, at, layout, lines, count, to);
        return;
    }
    constexpr std::size_t tile_bytes = 128;
    const std::size_t tiles = std::size_t{at.src_count} + at.extra_src_count - 1;
    for (std::size_t i = 0; i < tiles; ++i, to += tile_bytes) {
        if ((layout & LAYOUT_BYTES) != 0) {
            read_byte_tile(source(warp, at, 1 + i), to);
        } else {
            read_tile(source(warp, at, 1 + i), (layout & LAYOUT_TRANSPOSED) != 0, to);
        }
    }
}

/// Checks LANES lanes from `begin` on as one access if they are adjacent or read at one address.
/// `matrix` is as in check_lanes(). Returns whether this completes the check.
template <std::uint32_t LANES>
bool access_together(WarpContext& warp, const Instruction* at, Access& first, std::uint32_t count,
                     std::uint32_t begin, const std::uint8_t* matrix) {
    first.lane = begin;
    first.address = address_of(warp, *at, begin);
    const std::uint64_t step = address_of(warp, *at, begin + 1) - first.address;
    if (step != first.bytes && (step != 0 || first.writes)) {
        return false;
    }
    for (std::uint32_t lane = 2; lane < LANES; ++lane) {
        if (address_of(warp, *at, begin + lane) != first.address + lane * step) {
            return false;
        }
    }
    if (matrix != nullptr) {
        return check_together(warp, at, first, LANES, false,
                              matrix + std::size_t{begin} * first.bytes);
    }
    std::uint8_t data[LANES * MAX_LANE_BYTES];
    const bool has_data = (at->tag & ACCESS_VALUES) != 0;
    for (std::uint32_t lane = 0; has_data && lane < LANES; ++lane) {
        read_values(warp, *at, begin + lane, count, data + std::size_t{lane} * first.bytes);
    }
    return check_together(warp, at, first, LANES, step == 0, has_data ? data : nullptr);
}

/// Checks what each lane accesses. `matrix` holds what the lanes write together, unless each lane
/// has the values that it writes: row after row of tiles, or line after line.
[[gnu::always_inline]] inline const Instruction* check_lanes(WarpContext& warp,
                                                             const Instruction* at,
                                                             std::uint32_t mask,
                                                             const std::uint8_t* matrix) {
    const std::uint32_t count = at->target & ACCESS_COUNT;
    const std::uint32_t lines = at->target >> ACCESS_LINES_SHIFT & 0xff;
    const std::uint32_t lanes = at->target >> ACCESS_LANES_SHIFT;
    mask &= bytecode::FULL_MASK >> (WARP_SIZE - lanes);
    if (lines > 1) {
        mask &= ~mask + 1; // the first lane acts for all lanes
    }
    std::uint8_t data[MAX_LANE_BYTES];
    Access each;
    each.space = static_cast<AccessSpace>(at->tag >> ACCESS_SPACE_SHIFT & 7);
    each.reads = (at->tag & ACCESS_READS) != 0;
    each.writes = (at->tag & ACCESS_WRITES) != 0;
    each.is_strong = (at->tag & ACCESS_STRONG) != 0;
    each.passes_on = (at->tag & ACCESS_PASSES_ON) != 0;
    each.element_bytes = at->access_bytes;
    each.bytes = count * at->access_bytes;
    if (mask == bytecode::FULL_MASK && lines == 1 && (at->tag & ACCESS_SIZED) == 0) {
        // Check all lanes at once, or by halves: many blocks are 16 threads wide.
        constexpr std::uint32_t half = WARP_SIZE / 2;
        if (access_together<WARP_SIZE>(warp, at, each, count, 0, matrix)) {
            return at + 1;
        }
        mask &= access_together<half>(warp, at, each, count, 0, matrix) ? ~0u << half : ~0u;
        mask &= access_together<half>(warp, at, each, count, half, matrix) ? ~0u >> half : ~0u;
    }
    for (; mask != 0; mask &= mask - 1) {
        each.lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        each.address = address_of(warp, *at, each.lane);
        std::int64_t stride = 0;
        if ((at->tag & ACCESS_SIZED) != 0) {
            each.bytes = lane_value<std::uint32_t>(warp, at->src[1], each.lane);
        } else if (lines > 1) {
            const int shift = static_cast<int>(at->tag >> ACCESS_STRIDE_SHIFT & 15) - 8;
            stride = lane_value<std::uint32_t>(warp, at->src[1], each.lane);
            stride = shift >= 0 ? stride << shift : stride >> -shift;
            each.data = matrix;
        } else if (matrix != nullptr) {
            each.data = matrix + std::size_t{each.lane} * each.bytes;
        } else if ((at->tag & ACCESS_VALUES) != 0) {
            read_values(warp, *at, each.lane, count, data);
            each.data = data;
        }
        for (std::uint32_t line = 0; line < lines; ++line) {
            if (!check_access(warp, at, each)) {
                return nullptr;
            }
            each.address += static_cast<std::uint64_t>(stride);
            each.data += matrix != nullptr ? each.bytes : 0;
        }
    }
    return at + 1;
}

/// Checks a store of a matrix that is spread over the lanes. This has a function of its own,
/// because its buffer would slow down all other accesses.
[[gnu::noinline]] const Instruction* access_matrix(WarpContext& warp, const Instruction* at,
                                                   std::uint32_t mask) {
    std::uint8_t matrix[MAX_MATRIX_BYTES];
    read_matrix(warp, *at, at->target >> ACCESS_LAYOUT_SHIFT & 0xff,
                at->target >> ACCESS_LINES_SHIFT & 0xff, at->target & ACCESS_COUNT, matrix);
    return check_lanes(warp, at, mask, matrix);
}

std::uint32_t block_number(const BlockContext& block) {
    return block.index[0] + block.grid[0] * (block.index[1] + block.grid[1] * block.index[2]);
}

} // namespace

const Instruction* access(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    if ((warp.block->memory->checks & CHECKS_OF_ACCESSES) == 0 &&
        shadow_of(warp).grid().accesses() == nullptr) {
        return at + 1; // not in a graph
    }
    const bool is_matrix = (at->target >> ACCESS_LAYOUT_SHIFT & 0xff) != 0;
    return is_matrix ? access_matrix(warp, at, mask) : check_lanes(warp, at, mask, nullptr);
}

const Instruction* release_block(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    shadow_of(warp).release(warp, mask);
    return at + 1;
}

const Instruction* acquire_block(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    shadow_of(warp).acquire(warp, mask);
    return at + 1;
}

const Instruction* release(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const BlockContext& block = *warp.block;
    if (block.memory->races != nullptr) {
        block.memory->races->release(shadow_of(warp).grid(), block_number(block));
    }
    return release_block(warp, at, mask);
}

const Instruction* acquire(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const BlockContext& block = *warp.block;
    if (block.memory->races != nullptr) {
        block.memory->races->acquire(shadow_of(warp).grid(), block_number(block));
    }
    return acquire_block(warp, at, mask);
}

const Instruction* meet(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::uint32_t members[WARP_SIZE];
    std::memcpy(members, warp.at(at->src[0]), sizeof members);
    shadow_of(warp).warp_met(warp, mask, members);
    return at + 1;
}

const Instruction* membership(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        const auto members = lane_value<std::uint32_t>(warp, at->src[0], lane);
        if ((members >> lane & 1) != 0) {
            continue;
        }
        char text[128];
        std::snprintf(text, sizeof text,
                      "lane %u executes a warp operation with member mask 0x%08x, which does not "
                      "name it; the result is undefined",
                      lane, members);
        return report_finding(warp, at, lane, FaultKind::DivergentBarrier, text) ? at + 1 : nullptr;
    }
    return at + 1;
}

const Instruction* mark_local(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    const BlockContext& block = *warp.block;
    const std::size_t offset = at->target + std::size_t{block.kernel->local_bytes} *
                                                (warp.groups[warp.current].depth + at->tag);
    const auto bytes = static_cast<std::size_t>(at->immediate);
    if (offset + bytes > block.local_stride_bytes) {
        return at + 1; // the call itself will report the overflow
    }
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        shadow_of(warp).mark_local(warp.thread(lane), offset, bytes);
    }
    return at + 1;
}

const Instruction* shake(WarpContext& warp, const Instruction* at, std::uint32_t /*mask*/) {
    if (warp.block->random == 0 || random_below(warp.block->random, SHAKE_INTERVAL) != 0) {
        return at + 1;
    }
    warp.budget = 0; // the whole warp yields, not only the group
    return yield_group(warp, at + 1);
}

} // namespace cuprum::emulator::check
