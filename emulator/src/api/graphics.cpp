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

std::vector<std::shared_ptr<GraphicsResource>> resources_from(unsigned count,
                                                              const CUgraphicsResource* handles) {
    require(count != 0 && handles != nullptr, "the list of resources is empty");
    std::vector<std::shared_ptr<GraphicsResource>> resources;
    for (unsigned index = 0; index < count; ++index) {
        resources.push_back(object_of(handles[index]));
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

ROW(cuGraphicsGLRegisterBuffer, 3000, CUgraphicsResource& pCudaResource, unsigned int buffer,
    unsigned int flags) {
    require(flags <= CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD,
            "the flags of a buffer must be 0, READ_ONLY or WRITE_DISCARD");
    pCudaResource =
        new_handle<CUgraphicsResource>(register_buffer(current_context(), buffer, flags));
}

ROW(cuGraphicsGLRegisterImage, 3000, CUgraphicsResource& pCudaResource, unsigned int image,
    unsigned int target,
    Flags<CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY, CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD,
          CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST, CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER>
        flags) {
    require(gl::is_image_target(target),
            "the target must be GL_TEXTURE_2D, GL_TEXTURE_RECTANGLE, GL_TEXTURE_CUBE_MAP, "
            "GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY or GL_RENDERBUFFER");
    pCudaResource =
        new_handle<CUgraphicsResource>(register_image(current_context(), image, target, flags));
}

ROW(cuGraphicsUnregisterResource, 3000, CUgraphicsResource resource) {
    object_of(resource)->check_not_mapped();
    close_handle(resource);
}

ROW_PTSZ(cuGraphicsMapResources, 3000, unsigned int count, CUgraphicsResource* resources,
         Stream& stream) {
    GraphicsResource::map(resources_from(count, resources), stream);
}

ROW_PTSZ(cuGraphicsUnmapResources, 3000, unsigned int count, CUgraphicsResource* resources,
         Stream& stream) {
    GraphicsResource::unmap(resources_from(count, resources), stream);
}

ROW(cuGraphicsResourceGetMappedPointer_v2, 3020, CUdeviceptr& pDevPtr, size_t& pSize,
    GraphicsResource& resource) {
    const auto memory = resource.memory();
    pDevPtr = memory->base;
    pSize = memory->bytes;
}

ROW(cuGraphicsSubResourceGetMappedArray, 3000, CUarray& pArray, GraphicsResource& resource,
    unsigned int arrayIndex, unsigned int mipLevel) {
    pArray = resource.array(arrayIndex, mipLevel);
}

ROW(cuGraphicsResourceGetMappedMipmappedArray, 5000, CUmipmappedArray& pMipmappedArray,
    GraphicsResource& resource) {
    pMipmappedArray = resource.mipmapped_array();
}

ROW(cuGraphicsResourceSetMapFlags_v2, 6050, CUgraphicsResource resource, unsigned int flags) {
    check_map_flags(flags);
    object_of(resource)->set_map_flags(flags);
}

ALIAS(cuGraphicsResourceSetMapFlags, 3000, cuGraphicsResourceSetMapFlags_v2);

ROW(cuGLGetDevices_v2, 6050, unsigned int* pCudaDeviceCount, CUdevice* pCudaDevices,
    unsigned int cudaDeviceCount, unsigned int deviceList) {
    list_devices(pCudaDeviceCount, pCudaDevices, cudaDeviceCount, deviceList);
}

ALIAS(cuGLGetDevices, 4010, cuGLGetDevices_v2);
