// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/graphics/external_memory.hpp>

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "graphics/external.hpp"
#include "memory/waiting_free.hpp"
#include "support/text.hpp"
#include "texture/states.hpp"

#include <cuprum/memory_resource.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using driver::table;

using driver::call;

/// The memory of buffers that were mapped from external memory.
class MappedExternalMemory final : public MemoryResource {
public:
    explicit MappedExternalMemory(std::shared_ptr<detail::ExternalMemoryState> memory)
        : memory_(std::move(memory)) {}

    [[nodiscard]] CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    [[nodiscard]] bool is_device_accessible() const noexcept override { return true; }

    [[nodiscard]] bool is_host_accessible() const noexcept override { return false; }

    [[nodiscard]] int device_id() const noexcept override {
        return memory_->context->device->ordinal;
    }

    [[nodiscard]] bool is_context_bound() const noexcept override { return true; }

private:
    std::shared_ptr<detail::ExternalMemoryState> memory_;
};

/// A mipmapped array in external memory, which is destroyed before the memory is given up.
struct MappedMipmap {
    MappedMipmap(std::shared_ptr<detail::ExternalMemoryState> memory,
                 CUmipmappedArray array) noexcept
        : lies_in(std::move(memory)), handle(array) {}

    ~MappedMipmap() {
        detail::release_in<detail::ReleaseIn::ItsContext>(
            lies_in->context, lies_in->made_at, "array of external memory",
            [array = handle, kept = lies_in] { call(table().cuMipmappedArrayDestroy, array); });
    }

    MappedMipmap(const MappedMipmap&) = delete;
    MappedMipmap& operator=(const MappedMipmap&) = delete;

    std::shared_ptr<detail::ExternalMemoryState> lies_in;
    CUmipmappedArray handle;
};

CUdeviceptr MappedExternalMemory::allocate_bytes(std::size_t /*bytes*/, const Stream& /*stream*/) {
    throw std::logic_error("external memory cannot allocate; map another part of it");
}

void MappedExternalMemory::deallocate_bytes(CUdeviceptr pointer, std::size_t /*bytes*/,
                                            const Stream& stream) {
    detail::free_after(stream, [&] { detail::free_in_any_context(table().cuMemFree, pointer); });
}

CUexternalMemoryHandleType handle_type(ExternalMemoryType type) {
    switch (type) {
    case ExternalMemoryType::OpaqueFd:
        return CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    case ExternalMemoryType::DmaBufFd:
        // Not by its name: our cuda.h may not know it.
        return static_cast<CUexternalMemoryHandleType>(9); // NOLINT(*EnumCastOutOfRange)
    }
    throw std::invalid_argument("type is " + std::to_string(static_cast<int>(type)) +
                                ", expected a member of ExternalMemoryType");
}

const char* name_of(ExternalMemoryType type) {
    return type == ExternalMemoryType::OpaqueFd ? "opaque_fd" : "dma_buf_fd";
}

} // namespace

ExternalMemory ExternalMemory::from_fd(const Context& context, int descriptor, std::size_t bytes,
                                       const ExternalMemoryOptions& options) {
    (void)detail::open(context);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC description{};
    description.type = handle_type(options.type);
    if (bytes == 0) {
        throw std::invalid_argument("the size is 0 bytes, expected that of the memory");
    }
    if (options.is_dedicated && options.type == ExternalMemoryType::DmaBufFd) {
        throw std::invalid_argument("a DMA-BUF has no dedicated allocations; leave the option "
                                    "'dedicated' out");
    }
    description.size = bytes;
    description.flags = options.is_dedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0;
    auto state = std::make_shared<detail::ExternalMemoryState>(detail::Access::state(context));
    state->size = bytes;
    state->type = options.type;
    detail::DescriptorCopy copy(descriptor);
    description.handle.fd = copy.get();
    const driver::Current current(state->context->handle);
    CUexternalMemory handle = nullptr;
    call(table().cuImportExternalMemory, &handle, &description);
    copy.release(); // the driver owns it now
    state->handle = handle;
    state->is_owned = true;
    return ExternalMemory(std::move(state));
}

CUexternalMemory ExternalMemory::handle() const {
    return detail::open(state_, "ExternalMemory").handle;
}

Context ExternalMemory::context() const {
    return detail::Access::make<Context>(detail::open(state_, "ExternalMemory").context);
}

std::size_t ExternalMemory::size() const {
    return detail::open(state_, "ExternalMemory").size;
}

ExternalMemoryType ExternalMemory::type() const {
    return detail::open(state_, "ExternalMemory").type;
}

Buffer ExternalMemory::map() const {
    return map(0, size());
}

Buffer ExternalMemory::map(std::size_t offset, std::size_t bytes) const {
    const detail::ExternalMemoryState& own = detail::open(state_, "ExternalMemory");
    if (bytes == 0) {
        throw std::invalid_argument("the size is 0 bytes, expected at least 1");
    }
    if (offset > own.size || bytes > own.size - offset) {
        throw std::invalid_argument("the part has " + std::to_string(bytes) +
                                    " bytes from offset " + std::to_string(offset) +
                                    ", but the ExternalMemory has " + std::to_string(own.size));
    }
    auto resource = std::make_shared<MappedExternalMemory>(state_);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC description{};
    description.offset = offset;
    description.size = bytes;
    CUdeviceptr pointer = 0;
    const driver::Current current(own.context->handle);
    call(table().cuExternalMemoryGetMappedBuffer, &pointer, own.handle, &description);
    return detail::adopt(pointer, bytes, std::move(resource), own.context);
}

MipmappedArray ExternalMemory::map_mipmapped_array(std::size_t offset,
                                                   const MipmappedArrayOptions& options) const {
    const detail::ExternalMemoryState& own = detail::open(state_, "ExternalMemory");
    if (offset >= own.size) {
        throw std::invalid_argument("offset is " + std::to_string(offset) +
                                    ", but the ExternalMemory has " + std::to_string(own.size) +
                                    " bytes");
    }
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC description{};
    description.offset = offset;
    description.arrayDesc = detail::description_of(options.array);
    description.numLevels = std::max(1U, options.num_levels);
    CUmipmappedArray handle = nullptr;
    {
        const driver::Current current(own.context->handle);
        call(table().cuExternalMemoryGetMappedMipmappedArray, &handle, own.handle, &description);
    }
    auto owner = std::make_shared<MappedMipmap>(state_, handle);
    return MipmappedArray::from_handle(handle, description.numLevels, context(), std::move(owner));
}

bool operator==(const ExternalMemory& left, const ExternalMemory& right) noexcept {
    return detail::handle_or_null(left) == detail::handle_or_null(right);
}

std::string to_string(const ExternalMemory& memory) {
    if (memory.is_closed()) {
        return "<ExternalMemory closed>";
    }
    const auto& state = detail::Access::state(memory);
    return "<ExternalMemory handle=" + detail::hexadecimal(state->handle) + " " +
           name_of(state->type) + " size=" + std::to_string(state->size) + ">";
}

} // namespace cuprum

std::size_t
std::hash<cuprum::ExternalMemory>::operator()(const cuprum::ExternalMemory& memory) const noexcept {
    return std::hash<const void*>()(cuprum::detail::handle_or_null(memory));
}
