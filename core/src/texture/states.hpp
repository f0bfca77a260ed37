// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arrays as textures, surfaces, copies and graphics see them.
//
// An array belongs to the context that it was made in. A device reset destroys both. Whatever uses
// an array holds a share of its state: levels and planes hold the state of the whole.

#pragma once

#include "device/context_state.hpp"
#include "driver/call.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/handle.hpp"
#include "driver/table.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/detail/handle_argument.hpp>
#include <cuprum/texture/mipmapped_array.hpp>
#include <cuprum/texture/opaque_array.hpp>
#include <cuprum/texture/resource_descriptor.hpp>
#include <cuprum/texture/texture_object.hpp>

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace cuprum::detail {

/// A driver's array, mipmapped or not, and its description.
template <typename Handle, auto ENTRY, Word WHAT>
struct DriverArray : Owned<Handle, ENTRY, WHAT, ReleaseIn::ItsContextOnly> {
    const std::atomic<bool>* withdrawal = nullptr; // a flag of the owner, see end_with()
    CUDA_ARRAY3D_DESCRIPTOR description{};         // of level 0
    const ArrayFormatInfo* format = nullptr;
    std::shared_ptr<void> owner; // of an array that is not ours: what keeps it alive

    using Owned<Handle, ENTRY, WHAT, ReleaseIn::ItsContextOnly>::Owned;

    [[nodiscard]] bool has_flag(unsigned flag) const noexcept {
        return (description.Flags & flag) != 0;
    }

    /// Returns whether the owner took the array back. Levels and planes share the whole's flag.
    [[nodiscard]] bool is_withdrawn() const noexcept {
        return withdrawal != nullptr && withdrawal->load(std::memory_order_relaxed);
    }
};

/// An array without levels.
struct ArrayState : DriverArray<CUarray, &driver::Table::cuArrayDestroy, "array"> {
    using DriverArray::DriverArray;

    /// Returns the bytes of an element, or of a block.
    [[nodiscard]] std::size_t element_bytes() const noexcept {
        return std::size_t{format->bytes} *
               (format->num_channels == 0 ? description.NumChannels : 1U);
    }
};

/// Returns the state of an array, to use it.
/// @throws ClosedError if the array is closed, withdrawn, or destroyed by a device reset.
[[nodiscard]] ArrayState& open(const OpaqueArray& array);

/// Lets a wrapped array end with its owner. Once `is_over` is true, using the array raises
/// ClosedError, and so do planes, textures and surfaces that were made of it. The owner that the
/// array keeps alive has the flag. For arrays that end before their shares do, such as those of a
/// mapped image. Call it before the program gets the array.
inline void end_with(const OpaqueArray& array, const std::atomic<bool>& is_over) noexcept {
    Access::state(array)->withdrawal = &is_over;
}

/// Wraps an array that something else owns. It belongs to `context`; `owner` stays alive with it.
/// @throws CUDAError if the driver does not know the array.
[[nodiscard]] OpaqueArray borrow_array(CUarray handle, std::shared_ptr<ContextState> context,
                                       std::shared_ptr<void> owner);

/// An array with all its levels.
struct MipmapState
    : DriverArray<CUmipmappedArray, &driver::Table::cuMipmappedArrayDestroy, "mipmapped array"> {
    unsigned num_levels = 0;

    using DriverArray::DriverArray;
};

/// Returns the state of a mipmapped array, to use it.
/// @throws ClosedError if the array is closed, withdrawn, or destroyed by a device reset.
[[nodiscard]] MipmapState& open(const MipmappedArray& array);

/// Lets a wrapped mipmapped array and its levels end with its owner: see end_with() of an
/// OpaqueArray.
inline void end_with(const MipmappedArray& array, const std::atomic<bool>& is_over) noexcept {
    Access::state(array)->withdrawal = &is_over;
}

/// Returns the flag of an array that ends with its owner, see end_with(); null for other memory.
[[nodiscard]] const std::atomic<bool>* withdrawal_of(const ResourceDescriptor& resource) noexcept;

/// A texture or surface of the driver, its context, and the memory that it reads. Destroying the
/// state destroys the driver's object.
struct HandleState : OfContext {
    unsigned long long handle = 0;
    bool is_surface = false;
    bool is_owned = false;
    ResourceDescriptor resource;
    TextureObjectOptions options;                  // of a texture
    const std::atomic<bool>* withdrawal = nullptr; // of the array, which `resource` keeps

    HandleState(const ResourceDescriptor& memory, const TextureObjectOptions& how,
                const std::shared_ptr<ContextState>& home)
        : OfContext(home), resource(memory), options(how), withdrawal(withdrawal_of(memory)) {}

    ~HandleState();
    HandleState(const HandleState&) = delete;
    HandleState& operator=(const HandleState&) = delete;
};

/// Returns the state of a texture or surface, to use it.
/// @throws ClosedError if it is closed, a device reset destroyed it, or its array was withdrawn.
template <typename Object>
[[nodiscard]] HandleState& open_handle(const Object& object) {
    HandleState& state = open(Access::state(object), Object::CLASS_NAME);
    if (state.withdrawal != nullptr && state.withdrawal->load(std::memory_order_relaxed))
        [[unlikely]] {
        raise_closed(Object::CLASS_NAME);
    }
    return state;
}

/// Returns a resource as the driver takes it.
/// @throws ClosedError if the array or the buffer is closed.
[[nodiscard]] CUDA_RESOURCE_DESC description_of(const ResourceDescriptor& resource);

/// Returns the context of the array that a resource is; null for a buffer.
/// @throws ClosedError if the array is closed.
[[nodiscard]] const std::shared_ptr<ContextState>*
array_context(const ResourceDescriptor& resource);

/// Returns the context of a resource: that of the array, or the one that methods of the buffer's
/// device act in.
[[nodiscard]] std::shared_ptr<ContextState> context_of(const ResourceDescriptor& resource);

/// Throws std::invalid_argument that names the device of a resource and another one.
[[noreturn, gnu::cold]] void refuse_device(int home, const DeviceState& device);

// What options of arrays mean to the driver, and which limits of a device they meet.

struct DeviceState;

/// Checks that the options describe an array and returns them as the driver takes them.
/// @throws std::invalid_argument that names option, value and what was expected.
[[nodiscard]] CUDA_ARRAY3D_DESCRIPTOR description_of(const OpaqueArrayOptions& options);

/// Returns a description as options.
[[nodiscard]] OpaqueArrayOptions options_of(const CUDA_ARRAY3D_DESCRIPTOR& description);

/// Throws for an array that the driver did not make: names the limit of the device that the size
/// exceeds, if one does. `levels` is 0 unless it was to be mipmapped.
[[noreturn]] void raise_array_failure(CUresult status, const char* call,
                                      const CUDA_ARRAY3D_DESCRIPTOR& description, unsigned levels,
                                      DeviceState& device);

/// Returns the bytes that a copy of all elements takes; 0 for a format of several planes.
[[nodiscard]] std::size_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR& description);

/// Check that an array has what is asked for.
/// @throws std::invalid_argument that names the option.
void check_deferred(const CUDA_ARRAY3D_DESCRIPTOR& description);
void check_sparse(const CUDA_ARRAY3D_DESCRIPTOR& description);

/// Returns size, format, channels and layers for messages, "32 x 16 of float32 channels=1".
[[nodiscard]] std::string text_of(const CUDA_ARRAY3D_DESCRIPTOR& description);

[[nodiscard]] ArraySparseProperties sparse_properties_of(const CUDA_ARRAY_SPARSE_PROPERTIES& found);

} // namespace cuprum::detail
