// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Streams, memory resources and views as CCCL's libraries (libcu++, Thrust, CUB) take them.
//
// This header needs those of CCCL and of the CUDA runtime, so <cuprum/cuprum.hpp> does not include
// it. Nothing here calls the CUDA runtime. With CCCL before 3.1, define
// LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE to have the adapter for memory resources.

#pragma once

#include <cuprum/device.hpp>
#include <cuprum/memory_resource.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/typed_view.hpp>

// clang-format off
#include <cuda_runtime_api.h> // first: the headers of older CCCL do not include it
// clang-format on

#include <cuda/std/array>
#include <cuda/std/mdspan>
#include <cuda/stream_ref>
#include <cuda/version>

#if CCCL_VERSION >= 3001000 || defined(LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE)
#include <cuda/memory_resource>
/// Whether this CCCL has cuda::mr, and so whether MemoryResourceAdapter exists.
#define CUPRUM_HAS_CUDA_MR 1
#else
/// 1 if libcu++ has `cuda::mr`, else 0.
#define CUPRUM_HAS_CUDA_MR 0
#endif

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace cuprum::interop {

/// Returns a stream as CCCL names it. The result owns nothing: keep the Stream alive.
/// @throws ClosedError if the stream is closed.
[[nodiscard]] inline ::cuda::stream_ref to_stream_ref(const Stream& stream) {
    return ::cuda::stream_ref(stream.handle());
}

/// Wraps CCCL's stream without owning it; `owner` is kept alive with the result.
[[nodiscard]] inline Stream from_stream_ref(::cuda::stream_ref stream,
                                            std::shared_ptr<void> owner = {}) {
    return Stream::from_handle(stream.get(), std::move(owner));
}

/// What CCCL's view of an array with `Rank` dimensions is.
template <typename T, std::size_t Rank>
using Mdspan = ::cuda::std::mdspan<T, ::cuda::std::dextents<StridedLayout::Index, Rank>,
                                   ::cuda::std::layout_stride>;

/// Returns a view as CCCL's mdspan, which kernels may take as an argument.
/// @throws std::invalid_argument if a stride is not positive, which mdspan does not allow.
template <typename T, std::size_t Rank>
[[nodiscard]] Mdspan<T, Rank> to_mdspan(const TypedView<T, Rank>& view) {
    using Extents = ::cuda::std::dextents<StridedLayout::Index, Rank>;
    ::cuda::std::array<StridedLayout::Index, Rank> shape{};
    ::cuda::std::array<StridedLayout::Index, Rank> strides{};
    for (std::size_t axis = 0; axis < Rank; ++axis) {
        if (view.stride(axis) <= 0 && view.extent(axis) > 1) {
            throw std::invalid_argument("axis " + std::to_string(axis) + " has the stride " +
                                        std::to_string(view.stride(axis)) +
                                        ", expected a positive one: an mdspan has no other");
        }
        shape[axis] = view.extent(axis);
        strides[axis] = view.stride(axis) > 0 ? view.stride(axis) : 1;
    }
    return {view.data(), typename ::cuda::std::layout_stride::template mapping<Extents>(
                             Extents(shape), strides)};
}

/// Returns an mdspan with strides as a view.
template <typename T, typename Extents, typename Layout>
[[nodiscard]] TypedView<T, Extents::rank()>
from_mdspan(const ::cuda::std::mdspan<T, Extents, Layout>& span) {
    typename TypedView<T, Extents::rank()>::Extents shape{};
    typename TypedView<T, Extents::rank()>::Extents strides{};
    for (std::size_t axis = 0; axis < Extents::rank(); ++axis) {
        shape[axis] = static_cast<StridedLayout::Index>(span.extent(axis));
        strides[axis] = static_cast<StridedLayout::Index>(span.stride(axis));
    }
    return {span.data_handle(), shape, strides};
}

#if CUPRUM_HAS_CUDA_MR

/// A memory resource as cuda::mr takes it: it models cuda::mr::async_resource before CCCL 3.1 and
/// cuda::mr::resource since then.
///
/// `Properties` are what the memory has, cuda::mr::device_accessible, cuda::mr::host_accessible or
/// both. Copies share the resource, which lives at least as long as the last of them.
///
/// @code
/// auto resource = cuprum::interop::to_device_resource(device.memory_resource());
/// const cuda::stream_ref order = cuprum::interop::to_stream_ref(stream);
/// void* const memory = resource.allocate(order, 1024);
/// resource.deallocate(order, memory, 1024);
/// @endcode
template <typename... Properties>
class MemoryResourceAdapter {
public:
    /// The largest alignment that every resource of the driver has.
    static constexpr std::size_t MAX_ALIGNMENT_BYTES = 256;

    /// Takes a resource. Streamless allocations are ordered on a stream of the resource's device.
    /// @throws std::invalid_argument if it is null or lacks one of the properties.
    explicit MemoryResourceAdapter(std::shared_ptr<MemoryResource> resource)
        : resource_(std::move(resource)) {
        if (resource_ == nullptr) {
            throw std::invalid_argument("resource is null, expected a MemoryResource");
        }
        (check<Properties>(), ...);
    }

    [[nodiscard]] const std::shared_ptr<MemoryResource>& resource() const noexcept {
        return resource_;
    }

    // ---- since CCCL 3.1 ------------------------------------------------------------------------

    /// Allocates memory that is usable in the order of `stream`. No bytes give a null pointer.
    [[nodiscard]] void* allocate(::cuda::stream_ref stream, std::size_t bytes,
                                 std::size_t alignment = MAX_ALIGNMENT_BYTES) {
        return allocate_on(from_stream_ref(stream), bytes, alignment);
    }

    /// Frees memory in the order of `stream`.
    void deallocate(::cuda::stream_ref stream, void* pointer, std::size_t bytes,
                    std::size_t alignment = MAX_ALIGNMENT_BYTES) {
        static_cast<void>(alignment);
        deallocate_on(from_stream_ref(stream), pointer, bytes);
    }

    /// Allocates memory that every stream may use when this returns. Blocks.
    [[nodiscard]] void* allocate_sync(std::size_t bytes,
                                      std::size_t alignment = MAX_ALIGNMENT_BYTES) {
        const Stream stream = own_stream();
        void* const pointer = allocate_on(stream, bytes, alignment);
        stream.sync();
        return pointer;
    }

    /// Frees memory that no work uses any more.
    void deallocate_sync(void* pointer, std::size_t bytes,
                         std::size_t alignment = MAX_ALIGNMENT_BYTES) {
        static_cast<void>(alignment);
        deallocate_on(own_stream(), pointer, bytes);
    }

    // ---- before CCCL 3.1 -----------------------------------------------------------------------

    [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = MAX_ALIGNMENT_BYTES) {
        return allocate_sync(bytes, alignment);
    }

    void deallocate(void* pointer, std::size_t bytes, std::size_t alignment = MAX_ALIGNMENT_BYTES) {
        deallocate_sync(pointer, bytes, alignment);
    }

    [[nodiscard]] void* allocate_async(std::size_t bytes, std::size_t alignment,
                                       ::cuda::stream_ref stream) {
        return allocate(stream, bytes, alignment);
    }

    [[nodiscard]] void* allocate_async(std::size_t bytes, ::cuda::stream_ref stream) {
        return allocate(stream, bytes);
    }

    void deallocate_async(void* pointer, std::size_t bytes, std::size_t alignment,
                          ::cuda::stream_ref stream) {
        deallocate(stream, pointer, bytes, alignment);
    }

    void deallocate_async(void* pointer, std::size_t bytes, ::cuda::stream_ref stream) {
        deallocate(stream, pointer, bytes);
    }

    /// Compares identity: memory of one may be freed by the other.
    friend bool operator==(const MemoryResourceAdapter& left, const MemoryResourceAdapter& right) {
        return left.resource_ == right.resource_;
    }

    friend bool operator!=(const MemoryResourceAdapter& left, const MemoryResourceAdapter& right) {
        return !(left == right); // C++17 code of CCCL asks for it by name
    }

    /// Declares to cuda::mr what the memory has.
    template <typename Property>
        requires((std::is_same_v<Property, Properties> || ...))
    friend constexpr void get_property(const MemoryResourceAdapter& /*resource*/,
                                       Property /*property*/) noexcept {}

private:
    template <typename Property>
    void check() const {
        if constexpr (std::is_same_v<Property, ::cuda::mr::device_accessible>) {
            if (!resource_->is_device_accessible()) {
                throw std::invalid_argument("devices cannot reach the memory of the resource");
            }
        } else if constexpr (std::is_same_v<Property, ::cuda::mr::host_accessible>) {
            if (!resource_->is_host_accessible()) {
                throw std::invalid_argument("the host cannot reach the memory of the resource");
            }
        }
    }

    [[nodiscard]] void* allocate_on(const Stream& stream, std::size_t bytes,
                                    std::size_t alignment) const {
        if (alignment > MAX_ALIGNMENT_BYTES) {
            throw std::invalid_argument("alignment is " + std::to_string(alignment) +
                                        ", expected at most " +
                                        std::to_string(MAX_ALIGNMENT_BYTES));
        }
        if (bytes == 0) {
            return nullptr;
        }
        return reinterpret_cast<void*>(
            static_cast<std::uintptr_t>(resource_->allocate_bytes(bytes, stream)));
    }

    void deallocate_on(const Stream& stream, void* pointer, std::size_t bytes) const {
        if (pointer != nullptr) {
            resource_->deallocate_bytes(reinterpret_cast<std::uintptr_t>(pointer), bytes, stream);
        }
    }

    [[nodiscard]] Stream own_stream() const {
        const int device = resource_->device_id();
        return (device < 0 ? Device() : Device(device)).create_stream();
    }

    std::shared_ptr<MemoryResource> resource_;
};

/// Returns a resource of device memory for cuda::mr.
/// @throws std::invalid_argument if devices cannot reach its memory.
[[nodiscard]] inline MemoryResourceAdapter<::cuda::mr::device_accessible>
to_device_resource(std::shared_ptr<MemoryResource> resource) {
    return MemoryResourceAdapter<::cuda::mr::device_accessible>(std::move(resource));
}

/// Returns a resource of memory that host and devices share, for cuda::mr.
/// @throws std::invalid_argument if either cannot reach its memory.
[[nodiscard]] inline MemoryResourceAdapter<::cuda::mr::device_accessible,
                                           ::cuda::mr::host_accessible>
to_shared_resource(std::shared_ptr<MemoryResource> resource) {
    return MemoryResourceAdapter<::cuda::mr::device_accessible, ::cuda::mr::host_accessible>(
        std::move(resource));
}

#endif

} // namespace cuprum::interop
