// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graphics/graphics_resource.hpp>

#include "device/context_state.hpp"
#include "device/device_state.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "graphics/external.hpp"
#include "graphics/graphics_state.hpp"
#include "stream/stream_state.hpp"
#include "support/locks.hpp"
#include "support/text.hpp"
#include "texture/states.hpp"

#include <cuprum/error.hpp>
#include <cuprum/memory_resource.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

/// The memory of mapped buffers: freeing it unmaps the resource.
class MappedGraphicsMemory final : public MemoryResource {
public:
    explicit MappedGraphicsMemory(std::shared_ptr<detail::GraphicsMapping> mapping)
        : mapping_(std::move(mapping)) {}

    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    [[nodiscard]] bool is_device_accessible() const noexcept override { return true; }

    [[nodiscard]] bool is_host_accessible() const noexcept override { return false; }

    [[nodiscard]] int device_id() const noexcept override {
        return mapping_->resource->context->device->ordinal;
    }

    [[nodiscard]] bool is_context_bound() const noexcept override { return true; }

private:
    std::shared_ptr<detail::GraphicsMapping> mapping_;
};

struct GLTarget {
    unsigned number;
    const char* name;
};

// The targets of OpenGL that cuGraphicsGLRegisterImage takes.
constexpr std::array GL_TARGETS{
    GLTarget{0x0DE1, "GL_TEXTURE_2D"},       GLTarget{0x84F5, "GL_TEXTURE_RECTANGLE"},
    GLTarget{0x8513, "GL_TEXTURE_CUBE_MAP"}, GLTarget{0x806F, "GL_TEXTURE_3D"},
    GLTarget{0x8C1A, "GL_TEXTURE_2D_ARRAY"}, GLTarget{0x8D41, "GL_RENDERBUFFER"}};

CUdeviceptr MappedGraphicsMemory::allocate_bytes(std::size_t /*bytes*/, const Stream& /*stream*/) {
    throw std::logic_error("a mapped graphics resource has the memory of the resource; it cannot "
                           "allocate more");
}

void MappedGraphicsMemory::deallocate_bytes(CUdeviceptr /*pointer*/, std::size_t /*bytes*/,
                                            const Stream& stream) {
    mapping_->end_for_good(stream);
}

void check_exclusive(const GraphicsOptions& options) {
    if (options.is_read_only && options.is_write_discard) {
        throw std::invalid_argument("read_only and write_discard are both set: kernels "
                                    "cannot write what they only read; set one of them");
    }
}

void check_buffer_options(const GraphicsOptions& options) {
    check_exclusive(options);
    if (options.is_surface_load_store || options.is_texture_gather) {
        throw std::invalid_argument(
            std::string(options.is_surface_load_store ? "surface_load_store" : "texture_gather") +
            " is set, but a buffer has no surfaces or textures; leave it out, or register an "
            "image with from_gl_image");
    }
}

void check_target(unsigned target) {
    if (std::ranges::any_of(GL_TARGETS,
                            [&](const GLTarget& known) { return known.number == target; })) {
        return;
    }
    std::string names;
    for (const GLTarget& known : GL_TARGETS) {
        names += std::string(names.empty() ? "" : ", ") + known.name;
    }
    throw std::invalid_argument("target is " + detail::hexadecimal(std::size_t{target}) +
                                ", expected one of " + names);
}

unsigned flags_of(const GraphicsOptions& options) {
    unsigned flags = CU_GRAPHICS_REGISTER_FLAGS_NONE;
    flags |= options.is_read_only ? unsigned{CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY} : 0U;
    flags |= options.is_write_discard ? unsigned{CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD} : 0U;
    flags |= options.is_surface_load_store ? unsigned{CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST} : 0U;
    flags |= options.is_texture_gather ? unsigned{CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER} : 0U;
    return flags;
}

/// Calls an entry that registers an object of OpenGL. Some drivers answer INVALID_VALUE if no
/// context of OpenGL is current, so that error names both causes.
template <typename... Params, typename... Args>
void register_gl(const driver::Entry<CUresult(Params...)>& entry, const char* what, unsigned name,
                 Args... args) {
    const CUresult status = entry(args...);
    if (status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_INVALID_HANDLE) {
        const std::string object = std::string(what) + " " + std::to_string(name);
        throw CUDAError(status, entry.name,
                        "the current context of OpenGL has no " + object +
                            " that CUDA can use, or no context of OpenGL is current on this "
                            "thread; make the context of the " +
                            what + " current before the call");
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, entry.name);
    }
}

template <typename Register>
std::shared_ptr<detail::GraphicsState> register_in(const Context& context, bool is_image,
                                                   const Register& call_driver) {
    (void)detail::open(context);
    auto state = std::make_shared<detail::GraphicsState>(detail::Access::state(context));
    state->is_image = is_image;
    const driver::Current current(state->context->handle);
    CUgraphicsResource handle = nullptr;
    call_driver(&handle);
    state->handle = handle; // from here on the state unregisters it
    return state;
}

void check_image(const detail::GraphicsState& resource) {
    if (!resource.is_image) {
        throw std::logic_error("the GraphicsResource is a buffer, which has no arrays; map it with "
                               "map()");
    }
}

/// Returns an array of a mapped image, which holds the mapping.
OpaqueArray array_of(std::shared_ptr<detail::GraphicsMapping> mapping, unsigned index,
                     unsigned level) {
    const detail::GraphicsMapping& held = *mapping;
    const auto& context = held.resource->context;
    CUarray handle = nullptr;
    {
        const driver::Current current(context->handle);
        call(table().cuGraphicsSubResourceGetMappedArray, &handle, held.resource->handle, index,
             level);
    }
    OpaqueArray array = detail::borrow_array(handle, context, std::move(mapping));
    detail::end_with(array, held.is_over);
    return array;
}

/// Maps a resource. If what follows fails, the mapping's end unmaps it.
std::shared_ptr<detail::GraphicsMapping>
begin_mapping(const std::shared_ptr<detail::GraphicsState>& resource, const Stream& stream) {
    const CUstream queue = detail::handle_of(stream);
    std::shared_ptr<detail::GraphicsMapping> known; // it can end here, so without the lock
    const detail::QuietLock lock(resource->mutex);
    known = resource->mapping.lock();
    if (known != nullptr && !known->is_over.load(std::memory_order_relaxed)) {
        throw std::logic_error("the GraphicsResource is already mapped; unmap it, or close the "
                               "buffer or the arrays of that mapping first");
    }
    auto mapping = std::make_shared<detail::GraphicsMapping>(resource, stream);
    mapping->is_over.store(true); // until the driver has mapped it
    const driver::Current current(resource->context->handle);
    if (resource->is_stuck.load()) {
        detail::unmap_now(resource->handle, queue);
        resource->is_stuck.store(false);
    }
    call(table().cuGraphicsMapResources, 1U, &resource->handle, queue);
    mapping->is_over.store(false);
    resource->mapping = mapping;
    return mapping;
}

} // namespace

GraphicsResource GraphicsResource::from_gl_buffer(const Context& context, unsigned buffer,
                                                  const GraphicsOptions& options) {
    check_buffer_options(options);
    return GraphicsResource(register_in(context, false, [&](CUgraphicsResource* handle) {
        register_gl(table().cuGraphicsGLRegisterBuffer, "buffer", buffer, handle, buffer,
                    flags_of(options));
    }));
}

GraphicsResource GraphicsResource::from_gl_image(const Context& context, unsigned image,
                                                 unsigned target, const GraphicsOptions& options) {
    check_exclusive(options);
    check_target(target);
    return GraphicsResource(register_in(context, true, [&](CUgraphicsResource* handle) {
        register_gl(table().cuGraphicsGLRegisterImage, "image", image, handle, image, target,
                    flags_of(options));
    }));
}

GraphicsResource GraphicsResource::from_egl_image(const Context& context, void* image,
                                                  const GraphicsOptions& options) {
    if (image == nullptr) {
        throw std::invalid_argument("image is null, expected an EGLImage");
    }
    check_exclusive(options);
    return GraphicsResource(register_in(context, true, [&](CUgraphicsResource* handle) {
        call(table().cuGraphicsEGLRegisterImage, handle, image, flags_of(options));
    }));
}

CUgraphicsResource GraphicsResource::handle() const {
    return detail::open(state_, "GraphicsResource").handle;
}

Context GraphicsResource::context() const {
    return detail::Access::make<Context>(detail::open(state_, "GraphicsResource").context);
}

bool GraphicsResource::is_image() const {
    return detail::open(state_, "GraphicsResource").is_image;
}

bool GraphicsResource::is_mapped() const {
    return detail::open(state_, "GraphicsResource").live_mapping() != nullptr;
}

Buffer GraphicsResource::map(const Stream& stream) const {
    if (detail::open(state_, "GraphicsResource").is_image) {
        throw std::logic_error("the GraphicsResource is an image, which has no linear memory; map "
                               "it with map_array()");
    }
    auto mapping = begin_mapping(state_, stream);
    CUdeviceptr pointer = 0;
    std::size_t bytes = 0;
    {
        const driver::Current current(state_->context->handle);
        call(table().cuGraphicsResourceGetMappedPointer, &pointer, &bytes, state_->handle);
    }
    return Buffer::from_handle(pointer, bytes,
                               std::make_shared<MappedGraphicsMemory>(std::move(mapping)), stream);
}

OpaqueArray GraphicsResource::map_array(const Stream& stream, unsigned index,
                                        unsigned level) const {
    check_image(detail::open(state_, "GraphicsResource"));
    return array_of(begin_mapping(state_, stream), index, level);
}

OpaqueArray GraphicsResource::mapped_array(unsigned index, unsigned level) const {
    detail::GraphicsState& own = detail::open(state_, "GraphicsResource");
    check_image(own);
    auto mapping = own.live_mapping();
    if (mapping == nullptr) {
        throw std::logic_error("the GraphicsResource is not mapped; map_array() comes first");
    }
    return array_of(std::move(mapping), index, level);
}

MipmappedArray GraphicsResource::mapped_mipmapped_array(unsigned num_levels) const {
    detail::GraphicsState& own = detail::open(state_, "GraphicsResource");
    check_image(own);
    auto mapping = own.live_mapping();
    if (mapping == nullptr) {
        throw std::logic_error("the GraphicsResource is not mapped; map_array() comes first");
    }
    CUmipmappedArray handle = nullptr;
    {
        const driver::Current current(own.context->handle);
        call(table().cuGraphicsResourceGetMappedMipmappedArray, &handle, own.handle);
    }
    const std::atomic<bool>& is_over = mapping->is_over;
    MipmappedArray array =
        MipmappedArray::from_handle(handle, num_levels, context(), std::move(mapping));
    detail::end_with(array, is_over);
    return array;
}

void GraphicsResource::set_map_use(GraphicsMapUse use) const {
    detail::GraphicsState& own = detail::open(state_, "GraphicsResource");
    unsigned flags = CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE;
    switch (use) {
    case GraphicsMapUse::ReadWrite:
        break;
    case GraphicsMapUse::ReadOnly:
        flags = CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY;
        break;
    case GraphicsMapUse::WriteDiscard:
        flags = CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD;
        break;
    default:
        throw std::invalid_argument("use is " + std::to_string(static_cast<int>(use)) +
                                    ", expected a member of GraphicsMapUse");
    }
    if (own.live_mapping() != nullptr) {
        throw std::logic_error("the GraphicsResource is mapped; unmap it before you change what "
                               "kernels do with it");
    }
    const driver::Current current(own.context->handle);
    call(table().cuGraphicsResourceSetMapFlags, own.handle, flags);
}

void GraphicsResource::unmap(const Stream& stream) const {
    const auto mapping = detail::open(state_, "GraphicsResource").live_mapping();
    if (mapping == nullptr) {
        throw std::logic_error("the GraphicsResource is not mapped; map() comes first");
    }
    mapping->end(stream);
}

void GraphicsResource::unmap() const {
    const auto mapping = detail::open(state_, "GraphicsResource").live_mapping();
    if (mapping == nullptr) {
        throw std::logic_error("the GraphicsResource is not mapped; map() comes first");
    }
    mapping->end(mapping->stream);
}

bool operator==(const GraphicsResource& left, const GraphicsResource& right) noexcept {
    return detail::handle_or_null(left) == detail::handle_or_null(right);
}

std::vector<Device> gl_devices(GLDeviceList list) {
    const auto number = static_cast<int>(list);
    if (number < 0 || number > static_cast<int>(GLDeviceList::NextFrame)) {
        throw std::invalid_argument("list is " + std::to_string(number) +
                                    ", expected a member of GLDeviceList");
    }
    driver::initialise();
    int capacity = 0;
    call(table().cuDeviceGetCount, &capacity);
    std::vector<CUdevice> found(static_cast<std::size_t>(capacity));
    unsigned count = 0;
    call(table().cuGLGetDevices, &count, found.data(), static_cast<unsigned>(capacity),
         static_cast<unsigned>(number) + 1U); // CU_GL_DEVICE_LIST_ALL is 1
    found.resize(std::min<std::size_t>(count, found.size()));
    std::vector<Device> devices;
    for (const CUdevice ordinal : found) {
        devices.emplace_back(ordinal);
    }
    return devices;
}

std::string to_string(const GraphicsResource& resource) {
    if (resource.is_closed()) {
        return "<GraphicsResource closed>";
    }
    const auto& state = detail::Access::state(resource);
    return "<GraphicsResource handle=" + detail::hexadecimal(state->handle) +
           (state->is_image ? " image" : "") + (state->live_mapping() != nullptr ? " mapped" : "") +
           ">";
}

detail::GraphicsState::~GraphicsState() {
    if (handle == nullptr) {
        return;
    }
    release_in<ReleaseIn::ItsContext>(context, made_at, "graphics resource",
                                      [resource = handle, is_mapped = is_stuck.load()] {
                                          if (is_mapped) {
                                              unmap_now(resource, nullptr);
                                          }
                                          call(table().cuGraphicsUnregisterResource, resource);
                                      });
}

std::shared_ptr<detail::GraphicsMapping> detail::GraphicsState::live_mapping() {
    std::shared_ptr<GraphicsMapping> found;
    {
        const std::lock_guard lock(mutex);
        found = mapping.lock();
    }
    return found != nullptr && !found->is_over.load(std::memory_order_relaxed) ? found : nullptr;
}

void detail::unmap_now(CUgraphicsResource resource, CUstream stream) {
    const auto& unmap = table().cuGraphicsUnmapResources;
    const CUresult status = unmap(1U, &resource, stream);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_MAPPED) {
        driver::raise(status, unmap.name);
    }
}

void detail::GraphicsMapping::end(const Stream& last) {
    if (is_over.exchange(true)) {
        return;
    }
    try {
        if (resource->is_lost()) {
            return; // the reset unmapped it
        }
        const driver::Current current(resource->context->handle);
        unmap_now(resource->handle, handle_of(last));
    } catch (...) {
        is_over.store(false);
        throw;
    }
}

void detail::GraphicsMapping::end_for_good(const Stream& last) {
    try {
        end(last);
    } catch (...) {
        resource->is_stuck.store(true);
        is_over.store(true);
        throw;
    }
}

detail::GraphicsMapping::~GraphicsMapping() {
    if (is_over.load(std::memory_order_relaxed) || driver::is_leaving()) {
        return;
    }
    try {
        if (runs_host_function()) { // the driver cannot be called there
            defer_release(std::make_shared<GraphicsMapping>(resource, stream));
            return;
        }
        const driver::RelaxedCapture relaxed;
        end_for_good(stream);
    } catch (...) {
        driver::report_release_failure("mapping of a graphics resource");
    }
}

} // namespace cuprum

std::size_t std::hash<cuprum::GraphicsResource>::operator()(
    const cuprum::GraphicsResource& resource) const noexcept {
    return std::hash<const void*>()(cuprum::detail::handle_or_null(resource));
}
