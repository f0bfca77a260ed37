// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/textures/array.hpp"

#include "objects/devices/device.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/virtual_memory.hpp"
#include "objects/process/error.hpp"
#include "objects/process/shared_file.hpp"

#include <algorithm>
#include <bit>

namespace cuprum::emulator {

namespace {

/// Levels and planes begin at multiples of this, as a texture's address does.
constexpr std::uint64_t PART_ALIGNMENT_BYTES = 512;

constexpr std::uint64_t whole_tiles(std::uint64_t bytes) {
    return (bytes + MAPPING_ALIGNMENT_BYTES - 1) / MAPPING_ALIGNMENT_BYTES *
           MAPPING_ALIGNMENT_BYTES;
}

constexpr std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + PART_ALIGNMENT_BYTES - 1) / PART_ALIGNMENT_BYTES * PART_ALIGNMENT_BYTES;
}

bool is_deferred(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    return (descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING) != 0;
}

CUDA_ARRAY3D_DESCRIPTOR plane_of(CUDA_ARRAY3D_DESCRIPTOR whole, const FormatPlane& plane) {
    whole.Format = plane.format;
    whole.NumChannels = plane.channels;
    whole.Width = std::max<std::size_t>(whole.Width >> plane.width_shift, 1);
    whole.Height = std::max<std::size_t>(whole.Height >> plane.height_shift, 1);
    return whole;
}

/// Returns the sizes of a level. Layers and faces stay.
CUDA_ARRAY3D_DESCRIPTOR level_of(CUDA_ARRAY3D_DESCRIPTOR whole, unsigned level) {
    const auto smaller = [&](std::size_t size) {
        return size == 0 ? 0 : std::max<std::size_t>(size >> level, 1);
    };
    const bool is_volume = shape_of(whole) == ImageShape::Volume;
    whole.Width = smaller(whole.Width);
    whole.Height = smaller(whole.Height);
    whole.Depth = is_volume ? smaller(whole.Depth) : whole.Depth;
    return whole;
}

/// Returns the bytes of an array with all of its planes.
std::uint64_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    const auto planes = planes_of(descriptor.Format);
    if (planes.empty()) {
        return layout_of(descriptor).bytes();
    }
    std::uint64_t bytes = 0;
    for (const FormatPlane& plane : planes) {
        bytes = aligned(bytes) + layout_of(plane_of(descriptor, plane)).bytes();
    }
    return bytes;
}

} // namespace

// ---- memory ------------------------------------------------------------------------------------

ArrayMemory::ArrayMemory(const std::shared_ptr<Context>& context, std::uint64_t bytes,
                         std::string name)
    : allocation_(
          Allocations::instance().allocate(MemoryKind::Array, context, bytes, 0, std::move(name))),
      base_(allocation_->base) {}

ArrayMemory::ArrayMemory(std::uint64_t bytes)
    : base_(AddressSpace::instance().take(whole_tiles(bytes))), mapped_bytes_(whole_tiles(bytes)) {}

ArrayMemory::~ArrayMemory() {
    release();
}

void ArrayMemory::add_image(std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    images_.insert(handle);
}

void ArrayMemory::remove_image(std::uint64_t handle) {
    const std::lock_guard lock(mutex_);
    images_.erase(handle);
}

bool ArrayMemory::has_memory() const {
    const std::lock_guard lock(mutex_);
    return !is_deferred() || mapped_ != nullptr;
}

void ArrayMemory::map(std::shared_ptr<PhysicalMemory> memory, std::uint64_t offset) {
    const std::lock_guard lock(mutex_);
    require(!is_released_, "the array has been destroyed");
    if (memory != nullptr) {
        AddressSpace::map_file(base_, mapped_bytes_, memory->file().descriptor(),
                               SharedFile::DATA_OFFSET + offset);
    } else if (mapped_ != nullptr) {
        AddressSpace::unmap_file(base_, mapped_bytes_);
    }
    mapped_ = std::move(memory);
}

void ArrayMemory::release() {
    {
        const std::lock_guard lock(mutex_);
        for (const std::uint64_t image : images_) {
            ImageTable::instance().retire(image, "its array was destroyed");
        }
        images_.clear();
        if (is_released_) {
            return;
        }
        is_released_ = true;
        if (is_deferred()) {
            if (mapped_ != nullptr) {
                AddressSpace::unmap_file(base_, mapped_bytes_);
                mapped_ = nullptr;
            }
            AddressSpace::instance().give_back(base_, mapped_bytes_);
            return;
        }
    }
    Allocations::instance().remove(allocation_);
}

// ---- arrays ------------------------------------------------------------------------------------

std::shared_ptr<Array> Array::create(const std::shared_ptr<Context>& context,
                                     const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    check_descriptor(descriptor, context->device(), false);
    const std::uint64_t bytes = bytes_of(descriptor);
    auto memory = is_deferred(descriptor)
                      ? std::make_shared<ArrayMemory>(bytes)
                      : std::make_shared<ArrayMemory>(context, bytes, describe(descriptor));
    auto array = std::make_shared<Array>(context, descriptor, memory, 0, Role::Whole);
    HandleTable::instance().insert(HandleKind::Array, array);
    for (const auto& plane : array->planes_) {
        HandleTable::instance().insert(HandleKind::Array, plane);
    }
    return array;
}

Array::Array(std::shared_ptr<Context> context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
             std::shared_ptr<ArrayMemory> memory, std::uint64_t offset, Role role)
    : context_(std::move(context)), descriptor_(descriptor),
      format_(&format_from(descriptor.Format)), memory_(std::move(memory)), role_(role) {
    const auto planes = planes_of(descriptor.Format);
    if (planes.empty()) {
        layout_ = layout_of(descriptor);
        layout_.offset = offset;
        return;
    }
    std::uint64_t begin = offset;
    for (const FormatPlane& plane : planes) {
        auto part = std::make_shared<Array>(context_, plane_of(descriptor, plane), memory_,
                                            aligned(begin), Role::Plane);
        begin = part->layout_.offset + part->layout_.bytes();
        planes_.push_back(std::move(part));
    }
    layout_ = planes_.front()->layout_;
}

void Array::destroy() {
    invalidate();
    memory_->release();
}

void Array::invalidate() noexcept {
    HandleTable::instance().erase(HandleKind::Array, handle_value());
    for (const auto& plane : planes_) {
        plane->invalidate();
    }
}

std::shared_ptr<Array> Array::plane(unsigned index) const {
    if (planes_.empty()) {
        fail(CUDA_ERROR_INVALID_VALUE,
             std::string("the format CU_AD_FORMAT_") + format_->name + " has no planes");
    }
    if (index >= planes_.size()) {
        fail(CUDA_ERROR_INVALID_VALUE, "planeIdx is " + std::to_string(index) +
                                           ", but the array has " + std::to_string(planes_.size()) +
                                           " planes");
    }
    return planes_[index];
}

std::uint64_t Array::address() const {
    require(memory_->has_memory(),
            "the array was created with CUDA_ARRAY3D_DEFERRED_MAPPING, and no "
            "memory is mapped: call cuMemMapArrayAsync first");
    return base();
}

// ---- mipmaps -----------------------------------------------------------------------------------

std::shared_ptr<MipmappedArray> MipmappedArray::create(const std::shared_ptr<Context>& context,
                                                       const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                                                       unsigned level_count) {
    return create(context, descriptor, level_count,
                  [&](std::uint64_t bytes, const std::string& name) {
                      return std::make_shared<ArrayMemory>(context, bytes, name);
                  });
}

std::shared_ptr<MipmappedArray> MipmappedArray::create(const std::shared_ptr<Context>& context,
                                                       const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
                                                       unsigned level_count,
                                                       const MakeMemory& make_memory) {
    check_descriptor(descriptor, context->device(), true);
    const bool is_volume = shape_of(descriptor) == ImageShape::Volume;
    const std::size_t longest =
        std::max({descriptor.Width, descriptor.Height, is_volume ? descriptor.Depth : 0});
    const auto most = static_cast<unsigned>(std::bit_width(longest));
    level_count = std::clamp(level_count, 1U, most);

    auto whole = std::shared_ptr<MipmappedArray>(new MipmappedArray);
    whole->context_ = context;
    whole->descriptor_ = descriptor;
    std::vector<std::uint64_t> offsets;
    std::uint64_t bytes = 0;
    for (unsigned level = 0; level < level_count; ++level) {
        offsets.push_back(aligned(bytes));
        bytes = offsets.back() + layout_of(level_of(descriptor, level)).bytes();
    }
    whole->memory_ = is_deferred(descriptor)
                         ? std::make_shared<ArrayMemory>(bytes)
                         : make_memory(bytes, describe(descriptor) + " with " +
                                                  std::to_string(level_count) + " levels");
    for (unsigned level = 0; level < level_count; ++level) {
        whole->levels_.push_back(std::make_shared<Array>(context, level_of(descriptor, level),
                                                         whole->memory_, offsets[level],
                                                         Array::Role::Level));
        HandleTable::instance().insert(HandleKind::Array, whole->levels_.back());
    }
    HandleTable::instance().insert(HandleKind::MipmappedArray, whole);
    return whole;
}

void MipmappedArray::destroy() {
    HandleTable::instance().erase(HandleKind::MipmappedArray, handle_value());
    for (const auto& level : levels_) {
        level->invalidate();
    }
    memory_->release();
}

const std::shared_ptr<Array>& MipmappedArray::level(unsigned index) const {
    if (index >= levels_.size()) {
        fail(CUDA_ERROR_INVALID_VALUE, "level is " + std::to_string(index) +
                                           ", but the mipmap has levels 0 to " +
                                           std::to_string(levels_.size() - 1));
    }
    return levels_[index];
}

// ---- requirements -------------------------------------------------------------------------------

CUDA_ARRAY_MEMORY_REQUIREMENTS memory_requirements(const Array& array) {
    require(array.memory()->is_deferred() && array.role() == Array::Role::Whole,
            "the array was not created with CUDA_ARRAY3D_DEFERRED_MAPPING");
    CUDA_ARRAY_MEMORY_REQUIREMENTS result{};
    result.size = array.memory()->mapped_bytes();
    result.alignment = MAPPING_ALIGNMENT_BYTES;
    return result;
}

CUDA_ARRAY_MEMORY_REQUIREMENTS memory_requirements(const MipmappedArray& mipmap) {
    require(mipmap.memory()->is_deferred(),
            "the mipmap was not created with CUDA_ARRAY3D_DEFERRED_MAPPING");
    CUDA_ARRAY_MEMORY_REQUIREMENTS result{};
    result.size = mipmap.memory()->mapped_bytes();
    result.alignment = MAPPING_ALIGNMENT_BYTES;
    return result;
}

void destroy_arrays_of(const Context& context) {
    auto& handles = HandleTable::instance();
    for (const auto& object : handles.all_of(HandleKind::MipmappedArray, &context)) {
        static_cast<MipmappedArray&>(*object).destroy();
    }
    for (const auto& object : handles.all_of(HandleKind::Array, &context)) {
        static_cast<Array&>(*object).destroy();
    }
}

} // namespace cuprum::emulator
