// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions whose structures are shorter in CUDA 12.
//
// Programs reserve the size of CUDA 12, so nothing behind it may be read or written. Each function
// passes a structure of CUDA 13 on and copies what both versions have.

#include "runtime.hpp"

#include <cstddef>
#include <cstring>

#undef cudaCreateSurfaceObject
#undef cudaCreateTextureObject
#undef cudaGetSurfaceObjectResourceDesc
#undef cudaGetTextureObjectResourceDesc
#undef cudaGetTextureObjectResourceViewDesc
#undef cudaPointerGetAttributes

namespace {

// The sizes in CUDA 12. CUDA 13 added reserved words behind them.
constexpr std::size_t RESOURCE_BYTES = 64;
constexpr std::size_t VIEW_BYTES = 48;
constexpr std::size_t POINTER_BYTES = 24;
static_assert(offsetof(cudaResourceDesc, res) + sizeof(cudaResourceDesc{}.res.pitch2D) ==
              RESOURCE_BYTES);
static_assert(offsetof(cudaResourceViewDesc, reserved) == VIEW_BYTES);
static_assert(offsetof(cudaPointerAttributes, reserved) == POINTER_BYTES);

/// A structure of CUDA 13 in place of the shorter one that a program passed, or a null pointer.
template <typename Structure, std::size_t Bytes>
class Widened {
public:
    explicit Widened(const void* narrow) : is_null_(narrow == nullptr) {
        if (!is_null_) {
            std::memcpy(&wide_, narrow, Bytes);
        }
    }

    [[nodiscard]] Structure* get() { return is_null_ ? nullptr : &wide_; }

    /// Copies the members of CUDA 12 to the program's structure if the call succeeded.
    cudaError_t copy_back(cudaError_t status, void* narrow) const {
        if (status == cudaSuccess && !is_null_) {
            std::memcpy(narrow, &wide_, Bytes);
        }
        return status;
    }

private:
    Structure wide_{};
    bool is_null_;
};

using Resource = Widened<cudaResourceDesc, RESOURCE_BYTES>;
using View = Widened<cudaResourceViewDesc, VIEW_BYTES>;
using Pointer = Widened<cudaPointerAttributes, POINTER_BYTES>;

} // namespace

extern "C" {

cudaError_t CUDARTAPI cudaPointerGetAttributes(void* attributes, const void* pointer) {
    Pointer wide(attributes);
    return wide.copy_back(cuprum13PointerGetAttributes(wide.get(), pointer), attributes);
}

cudaError_t CUDARTAPI cudaCreateTextureObject(cudaTextureObject_t* texture, const void* resource,
                                              const cudaTextureDesc* description,
                                              const void* view) {
    return cuprum13CreateTextureObject(texture, Resource(resource).get(), description,
                                       View(view).get());
}

cudaError_t CUDARTAPI cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const void* resource) {
    return cuprum13CreateSurfaceObject(surface, Resource(resource).get());
}

cudaError_t CUDARTAPI cudaGetTextureObjectResourceDesc(void* resource,
                                                       cudaTextureObject_t texture) {
    Resource wide(resource);
    return wide.copy_back(cuprum13GetTextureObjectResourceDesc(wide.get(), texture), resource);
}

cudaError_t CUDARTAPI cudaGetTextureObjectResourceViewDesc(void* view,
                                                           cudaTextureObject_t texture) {
    View wide(view);
    return wide.copy_back(cuprum13GetTextureObjectResourceViewDesc(wide.get(), texture), view);
}

cudaError_t CUDARTAPI cudaGetSurfaceObjectResourceDesc(void* resource,
                                                       cudaSurfaceObject_t surface) {
    Resource wide(resource);
    return wide.copy_back(cuprum13GetSurfaceObjectResourceDesc(wide.get(), surface), resource);
}

} // extern "C"
