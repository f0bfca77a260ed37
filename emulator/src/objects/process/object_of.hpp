// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The one lookup of handles: the type of a handle says what its object is, and how an invalid one
// is answered.

#pragma once

#include "objects/process/error.hpp"
#include "objects/process/handle_table.hpp"

#include <cuda.h>

#include <memory>
#include <string>
#include <utility>

namespace cuprum::emulator {

/// What is known about one type of handle.
template <typename T>
struct HandleRow {
    using Object = T;
    HandleKind kind;
    const char* what;
    const char* end = "destroyed";
    CUresult code = CUDA_ERROR_INVALID_HANDLE;
    CUresult null_code = code;
};

/// One row for each type of handle whose objects need no more than to be found.
struct HandleRows {
    using Kind = HandleKind;
    static constexpr CUresult VALUE = CUDA_ERROR_INVALID_VALUE;
    static constexpr CUresult HANDLE = CUDA_ERROR_INVALID_HANDLE;
    static constexpr CUresult CONTEXT = CUDA_ERROR_INVALID_CONTEXT;

    // clang-format off
    // Contexts, streams and functions are looked up by more than their row, see api/handles.hpp.
    static constexpr HandleRow<class Context> of(CUcontext) { return {Kind::Context, "a context", "destroyed", CONTEXT}; }
    static constexpr HandleRow<class Stream> of(CUstream) { return {Kind::Stream, "a stream"}; }
    static constexpr HandleRow<class Function> of(CUfunction) { return {Kind::Function, "a function", "unloaded with its module"}; }
    static constexpr HandleRow<class Event> of(CUevent) { return {Kind::Event, "an event"}; }
    static constexpr HandleRow<class Pool> of(CUmemoryPool) { return {Kind::Pool, "a memory pool", "destroyed", VALUE}; }
    static constexpr HandleRow<class GreenContext> of(CUgreenCtx) { return {Kind::GreenContext, "a green context", "destroyed", CONTEXT}; }
    static constexpr HandleRow<class ResourceDescription> of(CUdevResourceDesc) { return {Kind::ResourceDescription, "a description of resources", "destroyed", VALUE}; }
    static constexpr HandleRow<class Module> of(CUmodule) { return {Kind::Module, "a module", "unloaded"}; }
    static constexpr HandleRow<class Library> of(CUlibrary) { return {Kind::Library, "a library", "unloaded"}; }
    static constexpr HandleRow<class LibraryKernel> of(CUkernel) { return {Kind::Kernel, "a kernel", "unloaded with its library"}; }
    static constexpr HandleRow<class LinkState> of(CUlinkState) { return {Kind::Linker, "a link"}; }
    static constexpr HandleRow<class Graph> of(CUgraph) { return {Kind::Graph, "a graph", "destroyed", VALUE}; }
    static constexpr HandleRow<class GraphNode> of(CUgraphNode) { return {Kind::GraphNode, "a node of a graph", "destroyed", VALUE}; }
    static constexpr HandleRow<class GraphExecutable> of(CUgraphExec) { return {Kind::GraphExecutable, "an executable graph", "destroyed", VALUE}; }
    static constexpr HandleRow<class UserObject> of(CUuserObject) { return {Kind::UserObject, "a user object", "released for the last time", VALUE}; }
    static constexpr HandleRow<class Array> of(CUarray) { return {Kind::Array, "an array"}; }
    static constexpr HandleRow<class MipmappedArray> of(CUmipmappedArray) { return {Kind::MipmappedArray, "a mipmapped array"}; }
    static constexpr HandleRow<class TextureReference> of(CUtexref) { return {Kind::TextureReference, "a texture reference"}; }
    static constexpr HandleRow<class SurfaceReference> of(CUsurfref) { return {Kind::SurfaceReference, "a surface reference", "unloaded with its module"}; }
    static constexpr HandleRow<class GraphicsResource> of(CUgraphicsResource) { return {Kind::GraphicsResource, "a graphics resource", "unregistered"}; }
    static constexpr HandleRow<class ExternalMemory> of(CUexternalMemory) { return {Kind::ExternalMemory, "external memory", "destroyed", HANDLE, VALUE}; }
    static constexpr HandleRow<class ExternalSemaphore> of(CUexternalSemaphore) { return {Kind::ExternalSemaphore, "an external semaphore", "destroyed", HANDLE, VALUE}; }

    // clang-format on
};

/// Returns the object of a handle that has a row, nullptr if it is not valid.
template <typename Handle>
[[nodiscard]] auto object_or_null(Handle handle) noexcept {
    constexpr auto row = HandleRows::of(Handle{});
    return std::static_pointer_cast<typename decltype(row)::Object>(
        HandleTable::instance().find(row.kind, reinterpret_cast<std::uint64_t>(handle)));
}

/// Returns whether a handle is that of a live object.
template <typename Handle>
[[nodiscard]] bool is_live(Handle handle) noexcept {
    return object_or_null(handle) != nullptr;
}

/// Returns the object of a handle that has a row. Throws what the row says.
template <typename Handle>
[[nodiscard]] auto object_of(Handle handle) {
    auto object = object_or_null(handle);
    if (object == nullptr) {
        constexpr auto row = HandleRows::of(Handle{});
        fail(handle == nullptr ? row.null_code : row.code,
             std::string("not ") + row.what + ", or it has been " + row.end);
    }
    return object;
}

/// Gives an object its handle, and keeps the object until close_handle().
template <typename Handle, typename T>
[[nodiscard]] Handle new_handle(std::shared_ptr<T> object) {
    constexpr auto kind = HandleRows::of(Handle{}).kind;
    return reinterpret_cast<Handle>(HandleTable::instance().insert(kind, std::move(object)));
}

/// Ends a handle that was found. Throws what its row says if another thread was faster.
template <typename Handle>
void close_handle(Handle handle) {
    constexpr auto row = HandleRows::of(Handle{});
    if (HandleTable::instance().erase(row.kind, reinterpret_cast<std::uint64_t>(handle)) ==
        nullptr) {
        fail(row.code, std::string(row.what) + " was destroyed by another thread");
    }
}

} // namespace cuprum::emulator
