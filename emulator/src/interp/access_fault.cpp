// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "interp/access_fault.hpp"

#include "interp/cluster.hpp"

#include <cinttypes>
#include <cstdio>
#include <string>

namespace cuprum::emulator {

namespace {

bool may_read(const MemoryMap& map, std::uint64_t address, std::uint32_t bytes) {
    return map.is_mapped(address, address + bytes - 1, false) ||
           (map.is_accessible != nullptr && map.is_accessible(map, address, bytes, false));
}

/// Describes whose memory a shared address reaches with .shared::cluster, if that is another
/// block's.
std::string describe_owner(const BlockContext& block, std::uint64_t address, std::uint32_t bytes) {
    if (find_shared(block, address, bytes, Reach::Cluster) == nullptr) {
        return {};
    }
    const BlockContext& owner = *place_of(block, address, Reach::Cluster).owner;
    return "; it is an address of the block of rank " + std::to_string(owner.cluster_rank) +
           " in the cluster, which needs .shared::cluster or a generic address";
}

std::string describe(const WarpContext& warp, AccessProblem problem, std::uint64_t address,
                     std::uint32_t bytes, bool is_write) {
    const BlockContext& block = *warp.block;
    const MemoryMap& map = *block.memory;
    switch (problem) {
    case AccessProblem::Unmapped:
        return (is_write && may_read(map, address, bytes)
                    ? "is refused: the device may only read this memory"
                    : "is outside the memory that the device may access") +
               (map.describe == nullptr ? std::string{} : map.describe(map, address, is_write));
    case AccessProblem::Misaligned:
        return "is misaligned: the address must be a multiple of " + std::to_string(bytes);
    case AccessProblem::BeyondShared:
        return "is outside the block's shared memory of " + std::to_string(block.shared_bytes) +
               " bytes" + describe_owner(block, address, bytes);
    case AccessProblem::BeyondLocal:
        return "is outside the thread's local memory of " +
               std::to_string(block.local_stride_bytes) + " bytes";
    case AccessProblem::BeyondParam:
        return "is outside the kernel's parameters of " + std::to_string(block.parameter_bytes) +
               " bytes";
    case AccessProblem::NotAtomic:
        return "is atomic, but the address is neither global nor shared";
    }
    return {};
}

} // namespace

const bytecode::Instruction* raise_access_fault(WarpContext& warp, const bytecode::Instruction* at,
                                                std::uint32_t lane, AccessProblem problem,
                                                std::uint64_t address, std::uint32_t bytes,
                                                bool is_write, const char* context) {
    char where[96];
    std::snprintf(where, sizeof where, "%s of %" PRIu32 " byte%s at 0x%" PRIx64 " ",
                  is_write ? "write" : "read", bytes, bytes == 1 ? "" : "s", address);
    const FaultKind kind = problem == AccessProblem::Misaligned  ? FaultKind::MisalignedAddress
                           : problem == AccessProblem::NotAtomic ? FaultKind::InvalidAddressSpace
                                                                 : FaultKind::IllegalAddress;
    return raise_fault(warp, at, kind, lane,
                       where + describe(warp, problem, address, bytes, is_write) + context);
}

} // namespace cuprum::emulator
