// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Graphics interoperability: buffers and images of OpenGL that kernels use.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphics/gl.hpp"
#include "objects/graphics/gl_image.hpp"
#include "objects/graphics/graphics_resource.hpp"
#include "objects/process/error.hpp"
#include "objects/process/thread_state.hpp"

#include <algorithm>
#include <vector>

using namespace cuprum::emulator;

namespace {

constexpr unsigned LARGEST_DEVICE_LIST = 3; // CU_GL_DEVICE_LIST_NEXT_FRAME

std::shared_ptr<GraphicsResource> resource_from(CUgraphicsResource handle) {
    auto object = HandleTable::instance().find(HandleKind::GraphicsResource,
                                               reinterpret_cast<std::uint64_t>(handle));
    if (object == nullptr) {
        fail(CUDA_ERROR_INVALID_HANDLE, "not a graphics resource, or it has been unregistered");
    }
    return std::static_pointer_cast<GraphicsResource>(std::move(object));
}

std::vector<std::shared_ptr<GraphicsResource>> resources_from(unsigned count,
                                                              const CUgraphicsResource* handles) {
    require(count != 0 && handles != nullptr, "the list of resources is empty");
    std::vector<std::shared_ptr<GraphicsResource>> resources;
    for (unsigned index = 0; index < count; ++index) {
        resources.push_back(resource_from(handles[index]));
    }
    return resources;
}

void check_map_flags(unsigned flags) {
    require(flags <= CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD,
            "the flags must be one of CU_GRAPHICS_MAP_RESOURCE_FLAGS_*");
}

void list_devices(unsigned* count, CUdevice* devices, unsigned capacity, unsigned list) {
    (void)gl::current();
    require(list >= 1 && list <= LARGEST_DEVICE_LIST, "unknown list of devices");
    require(count != nullptr, "pCudaDeviceCount must not be NULL");
    require(devices != nullptr || capacity == 0, "pCudaDevices must not be NULL");
    // OpenGL runs on the CPU, and so does every emulated device.
    const auto found = static_cast<unsigned>(Driver::instance().device_count());
    for (unsigned index = 0; index < std::min(found, capacity); ++index) {
        devices[index] = static_cast<CUdevice>(index);
    }
    *count = found;
}

} // namespace

extern "C" {

CUresult CUDAAPI cuGraphicsGLRegisterBuffer(CUgraphicsResource* pCudaResource, unsigned int buffer,
                                            unsigned int Flags) {
    return entry("cuGraphicsGLRegisterBuffer", [&] {
        require(pCudaResource != nullptr, "pCudaResource must not be NULL");
        require(Flags <= CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD,
                "the flags of a buffer must be 0, READ_ONLY or WRITE_DISCARD");
        *pCudaResource = reinterpret_cast<CUgraphicsResource>(HandleTable::instance().insert(
            HandleKind::GraphicsResource, register_buffer(current_context(), buffer, Flags)));
    });
}

CUresult CUDAAPI cuGraphicsGLRegisterImage(CUgraphicsResource* pCudaResource, unsigned int image,
                                           unsigned int target, unsigned int Flags) {
    return entry("cuGraphicsGLRegisterImage", [&] {
        constexpr unsigned known =
            CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD |
            CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST | CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;
        require(pCudaResource != nullptr, "pCudaResource must not be NULL");
        require((Flags & ~known) == 0, "unknown flags");
        require(gl::is_image_target(target),
                "the target must be GL_TEXTURE_2D, GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP, "
                "GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY or GL_RENDERBUFFER");
        *pCudaResource = reinterpret_cast<CUgraphicsResource>(HandleTable::instance().insert(
            HandleKind::GraphicsResource, register_image(current_context(), image, target, Flags)));
    });
}

CUresult CUDAAPI cuGraphicsUnregisterResource(CUgraphicsResource resource) {
    return entry("cuGraphicsUnregisterResource", [&] {
        resource_from(resource)->check_not_mapped();
        HandleTable::instance().erase(HandleKind::GraphicsResource,
                                      reinterpret_cast<std::uint64_t>(resource));
    });
}

CUresult CUDAAPI cuGraphicsMapResources(unsigned int count, CUgraphicsResource* resources,
                                        CUstream hStream) {
    return entry("cuGraphicsMapResources", [&] {
        GraphicsResource::map(resources_from(count, resources), *stream_from(hStream));
    });
}

CUresult CUDAAPI cuGraphicsUnmapResources(unsigned int count, CUgraphicsResource* resources,
                                          CUstream hStream) {
    return entry("cuGraphicsUnmapResources", [&] {
        GraphicsResource::unmap(resources_from(count, resources), *stream_from(hStream));
    });
}

CUresult CUDAAPI cuGraphicsResourceGetMappedPointer_v2(CUdeviceptr* pDevPtr, size_t* pSize,
                                                       CUgraphicsResource resource) {
    return entry("cuGraphicsResourceGetMappedPointer", [&] {
        require(pDevPtr != nullptr && pSize != nullptr, "an output argument is NULL");
        const auto memory = resource_from(resource)->memory();
        *pDevPtr = memory->base;
        *pSize = memory->bytes;
    });
}

CUresult CUDAAPI cuGraphicsSubResourceGetMappedArray(CUarray* pArray, CUgraphicsResource resource,
                                                     unsigned int arrayIndex,
                                                     unsigned int mipLevel) {
    return entry("cuGraphicsSubResourceGetMappedArray", [&] {
        require(pArray != nullptr, "pArray must not be NULL");
        *pArray = resource_from(resource)->array(arrayIndex, mipLevel);
    });
}

CUresult CUDAAPI cuGraphicsResourceGetMappedMipmappedArray(CUmipmappedArray* pMipmappedArray,
                                                           CUgraphicsResource resource) {
    return entry("cuGraphicsResourceGetMappedMipmappedArray", [&] {
        require(pMipmappedArray != nullptr, "pMipmappedArray must not be NULL");
        *pMipmappedArray = resource_from(resource)->mipmapped_array();
    });
}

CUresult CUDAAPI cuGraphicsResourceSetMapFlags_v2(CUgraphicsResource resource, unsigned int flags) {
    return entry("cuGraphicsResourceSetMapFlags", [&] {
        check_map_flags(flags);
        resource_from(resource)->set_map_flags(flags);
    });
}

CUresult CUDAAPI cuGraphicsResourceSetMapFlags(CUgraphicsResource resource, unsigned int flags) {
    return cuGraphicsResourceSetMapFlags_v2(resource, flags);
}

CUresult CUDAAPI cuGLGetDevices_v2(unsigned int* pCudaDeviceCount, CUdevice* pCudaDevices,
                                   unsigned int cudaDeviceCount, unsigned int deviceList) {
    return entry("cuGLGetDevices", [&] {
        list_devices(pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList);
    });
}

CUresult CUDAAPI cuGLGetDevices(unsigned int* pCudaDeviceCount, CUdevice* pCudaDevices,
                                unsigned int cudaDeviceCount, unsigned int deviceList) {
    return cuGLGetDevices_v2(pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList);
}

} // extern "C"
