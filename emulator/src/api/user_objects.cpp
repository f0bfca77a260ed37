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

extern "C" {

CUresult CUDAAPI cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy,
                                    unsigned int initialRefcount, unsigned int flags) {
    return entry("cuUserObjectCreate", [&] {
        require(object_out != nullptr && destroy != nullptr, "an argument is NULL");
        check_count(initialRefcount);
        require(flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC,
                "the flags must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC");
        *object_out = UserObject::create(ptr, destroy, initialRefcount)->handle<CUuserObject>();
    });
}

CUresult CUDAAPI cuUserObjectRetain(CUuserObject object, unsigned int count) {
    return entry("cuUserObjectRetain", [&] {
        check_count(count);
        user_object_from(object)->retain(count);
    });
}

CUresult CUDAAPI cuUserObjectRelease(CUuserObject object, unsigned int count) {
    return entry("cuUserObjectRelease", [&] {
        check_count(count);
        user_object_from(object)->release(count);
    });
}

CUresult CUDAAPI cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                         unsigned int flags) {
    return graph_entry("cuGraphRetainUserObject", [&] {
        check_count(count);
        require((flags & ~unsigned{CU_GRAPH_USER_OBJECT_MOVE}) == 0, "unknown flags");
        const auto holder = graph_from(graph);
        const auto held = user_object_from(object);
        if ((flags & CU_GRAPH_USER_OBJECT_MOVE) != 0) {
            held->move_to_graph(count);
        } else {
            held->retain_for_graph(count);
        }
        holder->references().adopt(held, count);
    });
}

CUresult CUDAAPI cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
    return graph_entry("cuGraphReleaseUserObject", [&] {
        check_count(count);
        graph_from(graph)->references().release(*user_object_from(object), count);
    });
}

// ---- the memory of graphs ----------------------------------------------------------------------

CUresult CUDAAPI cuDeviceGraphMemTrim(CUdevice device) {
    return entry("cuDeviceGraphMemTrim", [&] { GraphMemory::trim(device_at(device).ordinal()); });
}

CUresult CUDAAPI cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                              void* value) {
    return entry("cuDeviceGetGraphMemAttribute", [&] {
        put(static_cast<cuuint64_t*>(value),
            GraphMemory::attribute(device_at(device).ordinal(), attr));
    });
}

CUresult CUDAAPI cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr,
                                              void* value) {
    return entry("cuDeviceSetGraphMemAttribute", [&] {
        require(value != nullptr, "value must not be NULL");
        GraphMemory::set_attribute(device_at(device).ordinal(), attr,
                                   *static_cast<const cuuint64_t*>(value));
    });
}

} // extern "C"
