// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// User objects, and the memory of graphs on a device.

#include "api/graph_handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/graph_memory.hpp"
#include "objects/process/error.hpp"

#include <climits>

using namespace cuprum::emulator;

namespace {

void check_count(unsigned count) {
    require(count != 0 && count <= INT_MAX, "the count must be from 1 to INT_MAX");
}

} // namespace

ROW(cuUserObjectCreate, 11030, CUuserObject* object_out, void* ptr, CUhostFn destroy,
    unsigned int initialRefcount, unsigned int flags) {
    require(object_out != nullptr && destroy != nullptr, "an argument is NULL");
    check_count(initialRefcount);
    require(flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
            "the flags must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC");
    *object_out = UserObject::create(ptr, destroy, initialRefcount)->handle<CUuserObject>();
}

ROW(cuUserObjectRetain, 11030, CUuserObject object, unsigned int count) {
    check_count(count);
    object_of(object)->retain(count);
}

ROW(cuUserObjectRelease, 11030, CUuserObject object, unsigned int count) {
    check_count(count);
    object_of(object)->release(count);
}

ROW(cuGraphRetainUserObject, 11030, GraphLocked, CUgraph graph, CUuserObject object,
    unsigned int count, unsigned int flags) {
    check_count(count);
    require((flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) == 0, "unknown flags");
    const auto holder = object_of(graph);
    const auto held = object_of(object);
    if ((flags & CU_GRAPH_USER_OBJECT_MOVE) != 0) {
        held->move_to_graph(count);
    } else {
        held->retain_for_graph(count);
    }
    holder->references().adopt(held, count);
}

ROW(cuGraphReleaseUserObject, 11030, GraphLocked, CUgraph graph, CUuserObject object,
    unsigned int count) {
    check_count(count);
    object_of(graph)->references().release(*object_of(object), count);
}

// ---- the memory of graphs ----------------------------------------------------------------------

ROW(cuDeviceGraphMemTrim, 11040, Device& device) {
    GraphMemory::trim(device.ordinal());
}

ROW(cuDeviceGetGraphMemAttribute, 11040, Device& device, CUgraphMem_attribute attr, void* value) {
    put(static_cast<cuuint64_t*>(value), GraphMemory::attribute(device.ordinal(), attr));
}

ROW(cuDeviceSetGraphMemAttribute, 11040, CUdevice device, CUgraphMem_attribute attr, void* value) {
    require(value != nullptr, "value must not be NULL");
    GraphMemory::set_attribute(device_at(device).ordinal(), attr,
                               *static_cast<const cuuint64_t*>(value));
}
