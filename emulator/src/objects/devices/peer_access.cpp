// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/devices/peer_access.hpp"

#include "objects/memory/allocations.hpp"

namespace cuprum::emulator {

namespace {

void set_access(int from, int to, Permission permission) {
    Allocations::instance().set_access(from, permission, [to](const Allocation& allocation) {
        // Pools, mappings and the memory of graphs have their own access rights.
        return allocation.device == to && allocation.kind != MemoryKind::Pooled &&
               allocation.kind != MemoryKind::Mapped && allocation.kind != MemoryKind::Graph;
    });
}

} // namespace

PeerAccess& PeerAccess::instance() {
    static auto* access = new PeerAccess;
    return *access;
}

void PeerAccess::enable(int from, int to) {
    enabled_.fetch_add(1, std::memory_order_relaxed);
    {
        const std::lock_guard lock(mutex_);
        if (++counts_[{from, to}] != 1) {
            return;
        }
    }
    set_access(from, to, Permission::ReadWrite);
}

void PeerAccess::disable(int from, int to) {
    enabled_.fetch_sub(1, std::memory_order_relaxed);
    {
        const std::lock_guard lock(mutex_);
        if (--counts_[{from, to}] != 0) {
            return;
        }
    }
    set_access(from, to, Permission::None);
}

bool PeerAccess::is_enabled(int from, int to) const {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find({from, to});
    return found != counts_.end() && found->second != 0;
}

} // namespace cuprum::emulator
