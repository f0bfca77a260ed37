// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// malloc() and free() in kernels.

#include "builtins/heap.hpp"

#include "builtins/builtins.hpp"
#include "builtins/memory.hpp"

#include <algorithm>
#include <bit>
#include <sstream>

namespace cuprum::emulator::builtins {

using bytecode::Instruction;

namespace {

constexpr std::uint64_t ALIGNMENT = 16;
/// Unused bytes at the start, so that no piece has the address of the whole range.
constexpr std::uint64_t RESERVED_BYTES = 256;

} // namespace

Heap::Heap(std::uint64_t base, std::uint64_t bytes) {
    if (bytes > RESERVED_BYTES) {
        free_.put(base + RESERVED_BYTES, (bytes - RESERVED_BYTES) / ALIGNMENT * ALIGNMENT);
    }
}

std::uint64_t Heap::allocate(std::uint64_t bytes) {
    if (bytes > UINT64_MAX - ALIGNMENT) {
        return 0;
    }
    const std::uint64_t wanted =
        std::max(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    const std::lock_guard lock(mutex_);
    const std::uint64_t address = free_.take(wanted, ALIGNMENT);
    if (address == 0) {
        return 0;
    }
    used_.emplace(address, Piece{wanted, bytes});
    return address;
}

std::uint64_t Heap::bytes_from(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    auto piece = used_.upper_bound(address);
    if (piece == used_.begin()) {
        return 0;
    }
    --piece;
    const std::uint64_t offset = address - piece->first;
    return offset < piece->second.asked_bytes ? piece->second.asked_bytes - offset : 0;
}

bool Heap::release(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    const auto found = used_.find(address);
    if (found == used_.end()) {
        return false;
    }
    free_.put(found->first, found->second.bytes);
    used_.erase(found);
    return true;
}

const Instruction* allocate(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    Heap* const heap = warp.block->heap;
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        const std::uint64_t bytes = long_of(warp, at->src[0], lane);
        const std::uint64_t address = heap == nullptr ? 0 : heap->allocate(bytes);
        store_long(warp, at->dst[0], lane, address);
        if (warp.block->observer != nullptr && address != 0) {
            warp.block->observer->allocated(address, bytes);
        }
    }
    return at + 1;
}

const Instruction* release(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    Heap* const heap = warp.block->heap;
    for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        const std::uint64_t address = long_of(warp, at->src[0], lane);
        if (address != 0 && (heap == nullptr || !heap->release(address))) {
            std::ostringstream detail;
            detail << "free of 0x" << std::hex << address
                   << ", which malloc has not returned or which has been freed already";
            return raise_fault(warp, at, FaultKind::IllegalAddress, lane, detail.str());
        }
    }
    return at + 1;
}

} // namespace cuprum::emulator::builtins
