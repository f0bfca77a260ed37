// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "check/access.hpp"

#include "builtins/heap.hpp"
#include "bytecode/readable_name.hpp"
#include "check/block_shadow.hpp"
#include "check/node_accesses.hpp"
#include "check/written.hpp"
#include "interp/cluster.hpp"

#include <algorithm>
#include <sstream>
#include <string>

namespace cuprum::emulator::check {

using bytecode::Instruction;

namespace {

bool check_global(WarpContext& warp, const Instruction* at, const Access& access);
bool check_shared(WarpContext& warp, const Instruction* at, const Access& access,
                  std::uint64_t address, Reach reach);
bool check_local(WarpContext& warp, const Instruction* at, const Access& access,
                 std::uint64_t offset);
bool check_products(WarpContext& warp, const Instruction* at, const Access& access,
                    const BlockContext& owner, std::uint32_t offset);
const std::uint8_t* find_unwritten(const std::uint8_t* written, const Access& access);
std::string describe_access(const Access& access);
std::string describe_memory(const MemoryMap& map, std::uint64_t address);
std::string describe_shared(const BlockContext& owner, const BlockContext& from,
                            std::uint64_t offset);
std::string describe_thread(const BlockContext& block, std::uint32_t thread);
std::string describe_stamp(const BlockContext& block, const BlockShadow::Stamp& stamp);
std::string describe_other(const BlockContext& block, std::uint32_t instruction, bool was_write,
                           const std::string& who);

} // namespace

bool check_access(WarpContext& warp, const Instruction* at, const Access& access) {
    const BlockContext& block = *warp.block;
    const MemoryMap& map = *block.memory;
    if (access.bytes == 0) {
        return true;
    }
    switch (access.space) {
    case AccessSpace::Shared:
        return check_shared(warp, at, access, access.address, Reach::Block);
    case AccessSpace::Cluster:
        return check_shared(warp, at, access, access.address, Reach::Cluster);
    case AccessSpace::Local:
        return check_local(warp, at, access, access.address);
    case AccessSpace::Global:
        return check_global(warp, at, access);
    case AccessSpace::Generic:
        break;
    }
    if (const std::uint64_t offset = access.address - map.shared_base; offset < map.shared_bytes) {
        return check_shared(warp, at, access, offset, Reach::Cluster);
    }
    if (const std::uint64_t offset = access.address - map.local_base; offset < map.local_bytes) {
        return check_local(warp, at, access, offset);
    }
    const std::uint64_t parameter =
        access.address - reinterpret_cast<std::uint64_t>(block.parameters);
    return parameter < block.parameter_bytes || check_global(warp, at, access);
}

bool report_finding(WarpContext& warp, const Instruction* at, std::uint32_t lane, FaultKind kind,
                    const std::string& detail) {
    const MemoryMap& map = *warp.block->memory;
    if (map.report == nullptr) {
        (void)raise_fault(warp, at, kind, lane, detail);
        return false;
    }
    auto& grid = static_cast<BlockShadow&>(*warp.block->observer).grid();
    if (grid.is_news(static_cast<std::uint32_t>(at - warp.code))) {
        map.report(describe_finding(warp, at, kind, lane, detail) + grid.describe_launch());
    }
    return true;
}

void record_access(GridShadow& grid, const Access& access, std::uint64_t bytes) {
    if (NodeAccesses* const accesses = grid.accesses(); accesses != nullptr && !access.is_strong) {
        if (access.reads) {
            accesses->add(access.address, bytes, false);
        }
        if (access.writes) {
            accesses->add(access.address, bytes, true);
        }
    }
}

GlobalRaces::Stamp global_stamp(const WarpContext& warp, const Instruction* at,
                                std::uint32_t lane) {
    const BlockContext& block = *warp.block;
    GlobalRaces::Stamp who;
    who.block = block.index[0] + block.grid[0] * (block.index[1] + block.grid[1] * block.index[2]);
    who.thread = warp.thread(lane);
    who.instruction = static_cast<std::uint32_t>(at - warp.code);
    return who;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

bool check_global(WarpContext& warp, const Instruction* at, const Access& access) {
    const BlockContext& block = *warp.block;
    const MemoryMap& map = *block.memory;
    auto& shadow = static_cast<BlockShadow&>(*block.observer);
    record_access(shadow.grid(), access, access.bytes);
    if ((map.checks & CHECKS_OF_ACCESSES) == 0) {
        return true;
    }
    MemoryRange range;
    const bool is_found = shadow.find(map, access.address, range);
    if ((map.checks & CHECK_MEMORY) != 0) {
        const bool is_in_heap = is_found && range.is_heap && block.heap != nullptr;
        const std::uint64_t left = is_in_heap ? block.heap->bytes_from(access.address)
                                   : is_found ? range.base + range.bytes - access.address
                                              : 0;
        if (left < access.bytes) {
            const char* const what = left == 0 ? " is outside every live allocation"
                                               : " runs over the end of its allocation";
            (void)raise_fault(warp, at, FaultKind::IllegalAddress, access.lane,
                              describe_access(access) + what +
                                  (is_in_heap ? "\n  in the heap that malloc in kernels uses"
                                              : describe_memory(map, access.address)));
            return false;
        }
    }
    if (!is_found) {
        return true; // the instruction itself checks what is mapped
    }
    if (map.initialized != nullptr && (range.is_tracked || range.is_heap)) {
        for (std::uint32_t i = 0; access.reads && i < access.bytes; i += access.element_bytes) {
            const std::uint32_t bytes = std::min(access.element_bytes, access.bytes - i);
            if (is_unwritten(map, access.address + i, bytes)) {
                mark_written(map, access.address, access.bytes); // report it only once
                if (!report_finding(warp, at, access.lane, FaultKind::UninitializedRead,
                                    describe_access(access) + ", which was never written" +
                                        describe_memory(map, access.address))) {
                    return false;
                }
                break;
            }
        }
        if (access.writes) {
            mark_written(map, access.address, access.bytes);
        }
    }
    if (map.races != nullptr && !access.is_strong) {
        const GlobalRaces::Stamp who = global_stamp(warp, at, access.lane);
        const auto conflict = map.races->access(shadow.grid(), who, access.address, access.bytes,
                                                access.writes, access.data);
        if (conflict) {
            const auto& other = conflict->other;
            const std::string name =
                "thread " + describe_thread(block, other.thread) + " of block (" +
                std::to_string(other.block % block.grid[0]) + ", " +
                std::to_string(other.block / block.grid[0] % block.grid[1]) + ", " +
                std::to_string(other.block / block.grid[0] / block.grid[1]) + ")";
            return report_finding(
                warp, at, access.lane, FaultKind::Race,
                describe_access(access) + ", and nothing orders it after" +
                    describe_other(block, other.instruction, conflict->was_write, name) +
                    describe_memory(map, access.address));
        }
    }
    return true;
}

bool check_shared(WarpContext& warp, const Instruction* at, const Access& access,
                  std::uint64_t address, Reach reach) {
    const BlockContext& block = *warp.block;
    const auto [owner, offset] = place_of(block, address, reach);
    if (owner == nullptr || offset > owner->shared_bytes ||
        access.bytes > owner->shared_bytes - offset) {
        return true;
    }
    auto& shadow = static_cast<BlockShadow&>(*owner->observer);
    const std::uint8_t checks = block.memory->checks;
    if ((checks & CHECK_INITIALIZED) != 0) {
        std::uint8_t* const written = shadow.shared_written() + offset;
        if (access.reads && !access.passes_on && find_unwritten(written, access) != nullptr) {
            std::fill_n(written, access.bytes, std::uint8_t{1}); // report it only once
            if (!report_finding(warp, at, access.lane, FaultKind::UninitializedRead,
                                describe_access(access) + ", which this block has never written" +
                                    describe_shared(*owner, block, offset))) {
                return false;
            }
        }
        if (access.writes) {
            std::fill_n(written, access.bytes, std::uint8_t{1});
        }
    }
    if ((checks & CHECK_RACES) == 0 || access.is_strong) {
        return true;
    }
    const auto place = static_cast<std::uint32_t>(offset);
    if (access.writes && !check_products(warp, at, access, *owner, place)) {
        return false;
    }
    if (access.is_async && access.reads) {
        if (const auto write = shadow.find_unfenced(warp, access.lane, place, access.bytes)) {
            return report_finding(
                warp, at, access.lane, FaultKind::Race,
                describe_access(access) + " in the background, and no fence.proxy.async follows" +
                    describe_other(block, write->instruction, true, describe_stamp(block, *write)) +
                    describe_shared(*owner, block, offset));
        }
    }
    const std::uint16_t ending = !access.is_async ? BlockShadow::AT_ONCE
                                 : access.barrier != Access::NO_BARRIER
                                     ? shadow.ending_with(access.barrier)
                                 : access.reads ? BlockShadow::WITH_GROUP
                                                : BlockShadow::AT_ONCE;
    const auto conflict =
        shadow.access_shared(warp, access.lane, static_cast<std::uint32_t>(at - warp.code), place,
                             access.bytes, access.writes, access.data, ending);
    if (!conflict) {
        return true;
    }
    const BlockShadow::Stamp& other = conflict->other;
    return report_finding(
        warp, at, access.lane, FaultKind::Race,
        describe_access(access) + ", and nothing orders it after" +
            describe_other(block, other.instruction, conflict->was_write,
                           describe_stamp(block, other)) +
            (other.ending == BlockShadow::AT_ONCE ? ""
             : other.ending == BlockShadow::WITH_GROUP
                 ? "\n    which goes on in the background until cp.async.bulk.wait_group"
                 : "\n    which goes on in the background until a wait for its mbarrier") +
            describe_shared(*owner, block, offset));
}

/// Checks a write against the products of warpgroups that may still read the memory.
bool check_products(WarpContext& warp, const Instruction* at, const Access& access,
                    const BlockContext& owner, std::uint32_t offset) {
    auto& shadow = static_cast<BlockShadow&>(*owner.observer);
    const std::optional<std::uint32_t> reader = shadow.products().find_reader(offset, access.bytes);
    if (!reader) {
        return true;
    }
    return report_finding(
        warp, at, access.lane, FaultKind::Race,
        describe_access(access) + " overwrites a factor before" +
            describe_other(*warp.block, *reader, false, "wgmma") +
            "\n    is known to be complete; execute wgmma.wait_group before the memory is given "
            "back" +
            describe_shared(owner, *warp.block, offset));
}

bool check_local(WarpContext& warp, const Instruction* at, const Access& access,
                 std::uint64_t offset) {
    const BlockContext& block = *warp.block;
    const std::uint64_t stride = block.local_stride_bytes;
    if ((block.memory->checks & CHECK_INITIALIZED) == 0 || offset > stride ||
        access.bytes > stride - offset) {
        return true;
    }
    auto& shadow = static_cast<BlockShadow&>(*block.observer);
    const std::uint32_t thread = warp.thread(access.lane);
    const std::uint8_t* const written = shadow.local_written(thread) + offset;
    if (access.reads && !access.passes_on && find_unwritten(written, access) != nullptr) {
        shadow.mark_local(thread, offset, access.bytes); // report it only once
        if (!report_finding(warp, at, access.lane, FaultKind::UninitializedRead,
                            describe_access(access) + ", which the thread has never written\n  " +
                                std::to_string(offset) + " bytes into its local memory")) {
            return false;
        }
    }
    if (access.writes) {
        shadow.mark_local(thread, offset, access.bytes);
    }
    return true;
}

/// Returns the first element of an access of which no byte has been written. A partly written
/// element counts as written, because structures are copied together with their padding.
const std::uint8_t* find_unwritten(const std::uint8_t* written, const Access& access) {
    for (std::uint32_t i = 0; i < access.bytes; i += access.element_bytes) {
        const std::uint32_t bytes = std::min(access.element_bytes, access.bytes - i);
        if (std::all_of(written + i, written + i + bytes,
                        [](std::uint8_t byte) { return byte == 0; })) {
            return written + i;
        }
    }
    return nullptr;
}

std::string describe_access(const Access& access) {
    std::ostringstream out;
    out << (access.writes ? access.reads ? "update of " : "write of " : "read of ") << access.bytes
        << (access.bytes == 1 ? " byte at 0x" : " bytes at 0x") << std::hex << access.address;
    return out.str();
}

std::string describe_memory(const MemoryMap& map, std::uint64_t address) {
    return map.describe == nullptr ? std::string{} : map.describe(map, address, false);
}

/// Names the variable in shared memory that contains an offset.
std::string describe_shared(const BlockContext& owner, const BlockContext& from,
                            std::uint64_t offset) {
    const bytecode::Kernel& kernel = *owner.kernel;
    const std::string whose =
        &owner == &from ? "" : " of the cluster's block " + std::to_string(owner.cluster_rank);
    for (const bytecode::SharedVariable& variable : kernel.shared_variables) {
        if (offset - variable.offset < variable.bytes) {
            return "\n  " + std::to_string(offset - variable.offset) +
                   " bytes into shared variable '" + bytecode::readable_name(variable.name) +
                   "' of " + std::to_string(variable.bytes) + " bytes" + whose;
        }
    }
    const std::uint32_t dynamic = kernel.static_shared_bytes + kernel.hidden_shared_bytes;
    if (offset >= dynamic) {
        return "\n  " + std::to_string(offset - dynamic) + " bytes into the dynamic shared memory" +
               whose;
    }
    return "\n  " + std::to_string(offset) + " bytes into the shared memory" + whose;
}

std::string describe_thread(const BlockContext& block, std::uint32_t thread) {
    const std::uint32_t width = block.dimensions[0];
    const std::uint32_t height = block.dimensions[1];
    return "(" + std::to_string(thread % width) + ", " + std::to_string(thread / width % height) +
           ", " + std::to_string(thread / width / height) + ")";
}

/// Names the thread of an access to shared memory.
std::string describe_stamp(const BlockContext& block, const BlockShadow::Stamp& stamp) {
    std::string name = "thread " + describe_thread(block, stamp.thread % stamp.THREADS);
    if (block.cluster->size > 1) {
        name += " of the cluster's block " + std::to_string(stamp.thread / stamp.THREADS);
    }
    return name;
}

/// Describes the other access of a race and its place, one indentation level deeper.
std::string describe_other(const BlockContext& block, std::uint32_t instruction, bool was_write,
                           const std::string& who) {
    std::string place = describe_place(*block.kernel, block.kernel->code[instruction]);
    for (std::size_t at = place.find('\n'); at != std::string::npos;
         at = place.find('\n', at + 1)) {
        place.insert(at + 1, "  ");
    }
    return std::string(was_write ? " the write" : " the read") + " by " + who + place;
}

} // namespace

} // namespace cuprum::emulator::check
