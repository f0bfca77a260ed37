// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of cuprum_emulator.h.

#include "api/cuda_abi.hpp"
#include "api/row.hpp"

#pragma GCC visibility push(default)
#include "cuprum_emulator.h"
#pragma GCC visibility pop

#include "check/written.hpp"
#include "objects/code/module.hpp"
#include "objects/devices/context.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/pool.hpp"

#include <algorithm>
#include <string_view>

using namespace cuprum::emulator;

namespace {

template <typename T, typename Predicate>
std::size_t count_if(HandleKind kind, Predicate counts) {
    const auto objects = HandleTable::instance().all(kind);
    return static_cast<std::size_t>(std::ranges::count_if(
        objects, [&](const auto& object) { return counts(static_cast<const T&>(*object)); }));
}

} // namespace

extern "C" {

int cuprumEmulatorLiveObjects(CuprumLiveCounts* counts) {
    if (counts == nullptr || counts->struct_size != sizeof(CuprumLiveCounts)) {
        return 1;
    }
    const auto& handles = HandleTable::instance();
    const auto& memory = Allocations::instance();
    const std::size_t pinned = memory.count(MemoryKind::Pinned);
    counts->contexts = Context::active_count();
    counts->streams = handles.count(HandleKind::Stream);
    counts->events = handles.count(HandleKind::Event);
    counts->device_allocations =
        memory.count(MemoryKind::Device) + memory.count(MemoryKind::Managed) +
        memory.count(MemoryKind::Array) + memory.count(MemoryKind::Graphics) +
        memory.count(MemoryKind::External);
    counts->pool_allocations = memory.count(MemoryKind::Pooled);
    counts->host_allocations = pinned + memory.count(MemoryKind::Registered);
    counts->pools =
        count_if<Pool>(HandleKind::Pool, [](const Pool& pool) { return !pool.is_default(); });
    counts->modules = count_if<Module>(
        HandleKind::Module, [](const Module& module) { return !module.is_of_library(); });
    counts->libraries = handles.count(HandleKind::Library);
    counts->physical_allocations = handles.count(HandleKind::Physical);
    counts->graphics_objects = handles.count(HandleKind::GraphicsResource) +
                               handles.count(HandleKind::ExternalMemory) +
                               handles.count(HandleKind::ExternalSemaphore);
    return 0;
}

void cuprumEmulatorMarkWritten(const void* address, size_t bytes) {
    check::mark_written(AddressSpace::instance().map(), reinterpret_cast<std::uint64_t>(address),
                        bytes);
}

const char* cuprumEmulatorVersion(void) {
#ifdef CUPRUM_VERSION
    return CUPRUM_VERSION;
#else
    return "unknown";
#endif
}

int cuprumEmulatorFunction(size_t index, CuprumFunction* function) {
    if (function == nullptr || index >= rows().size()) {
        return 1;
    }
    const Row& row = *rows()[index];
    *function = {row.symbol, row.name, row.version, row.is_per_thread ? 1 : 0, row.missing};
    return 0;
}

int cuprumEmulatorIsImplemented(const char* symbol) {
    const auto found = std::ranges::find(rows(), std::string_view(symbol), &Row::symbol);
    return found != rows().end() && (*found)->missing == nullptr ? 1 : 0;
}

} // extern "C"
