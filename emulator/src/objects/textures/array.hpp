// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Arrays: memory of a device that programs reach by copies, textures and surfaces only.

#pragma once

#include "objects/devices/context.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/process/object_of.hpp"
#include "objects/textures/format.hpp"

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace cuprum::emulator {

class PhysicalMemory;

/// The memory of an array or of a whole mipmap, and the images that read it.
///
/// An array that was created with CUDA_ARRAY3D_DEFERRED_MAPPING has addresses from the beginning,
/// but memory only while some of cuMemCreate is mapped there. Until then its texels are zero.
class ArrayMemory {
public:
    /// Allocates memory of a context. `name` describes the array in reports.
    ArrayMemory(const std::shared_ptr<Context>& context, std::uint64_t bytes, std::string name);

    /// Takes addresses for memory that is mapped later.
    explicit ArrayMemory(std::uint64_t bytes);

    /// Takes over memory that exists, such as a part of external memory.
    explicit ArrayMemory(std::shared_ptr<Allocation> allocation)
        : allocation_(std::move(allocation)), base_(allocation_->base) {}

    ~ArrayMemory();
    ArrayMemory(const ArrayMemory&) = delete;
    ArrayMemory& operator=(const ArrayMemory&) = delete;

    [[nodiscard]] std::uint64_t base() const noexcept { return base_; }

    [[nodiscard]] bool is_deferred() const noexcept { return allocation_ == nullptr; }

    /// Returns whether there is memory behind the addresses.
    [[nodiscard]] bool has_memory() const;

    /// Returns how many bytes map() needs.
    [[nodiscard]] std::uint64_t mapped_bytes() const noexcept { return mapped_bytes_; }

    /// Maps a part of `memory`, or none, in place of what is mapped now. No work may use the array.
    void map(std::shared_ptr<PhysicalMemory> memory, std::uint64_t offset);

    /// Notes that an image reads or writes the memory.
    void add_image(std::uint64_t handle);

    void remove_image(std::uint64_t handle);

    /// Frees the memory now. Images of it cannot be used any more.
    void release();

private:
    std::shared_ptr<Allocation> allocation_; // nullptr for deferred memory
    std::uint64_t base_ = 0;
    std::uint64_t mapped_bytes_ = 0; // of deferred memory
    mutable std::mutex mutex_;       // guards the members below
    std::shared_ptr<PhysicalMemory> mapped_;
    bool is_released_ = false;
    std::unordered_set<std::uint64_t> images_;
};

/// The sizes of one array in memory. A row is a row of texels, or of compressed blocks.
struct ArrayLayout {
    std::uint64_t offset = 0; // from the beginning of the memory
    std::uint64_t row_bytes = 0;
    std::uint64_t rows = 1;
    std::uint64_t slices = 1; // slices, layers or faces

    [[nodiscard]] std::uint64_t slice_bytes() const noexcept { return row_bytes * rows; }

    [[nodiscard]] std::uint64_t bytes() const noexcept { return slice_bytes() * slices; }
};

/// Returns the dimensions of an array.
[[nodiscard]] ImageShape shape_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) noexcept;

/// Checks a descriptor against the limits of a device.
///
/// @throws DriverError INVALID_VALUE or NOT_SUPPORTED; the message names field, value and limit.
void check_descriptor(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, const Device& device,
                      bool is_mipmapped);

/// Returns the layout of an array whose format has no planes, without an offset.
[[nodiscard]] ArrayLayout layout_of(const CUDA_ARRAY3D_DESCRIPTOR& descriptor);

/// Describes an array in one line, for reports: "2-D array of 64 x 32 FLOAT x 1".
[[nodiscard]] std::string describe(const CUDA_ARRAY3D_DESCRIPTOR& descriptor);

/// A CUarray: an array, a level of a mipmap, or a plane of an array with a planar format.
class Array final : public Object {
public:
    /// What an array is a part of.
    enum class Role : std::uint8_t { Whole, Level, Plane };

    /// Creates an array in a context and gives it a handle.
    [[nodiscard]] static std::shared_ptr<Array> create(const std::shared_ptr<Context>& context,
                                                       const CUDA_ARRAY3D_DESCRIPTOR& descriptor);

    /// Makes a part of memory that exists, and gives it a handle.
    Array(std::shared_ptr<Context> context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
          std::shared_ptr<ArrayMemory> memory, std::uint64_t offset, Role role);

    /// Invalidates the handles of the array and its planes, and frees its memory.
    void destroy();

    [[nodiscard]] const CUDA_ARRAY3D_DESCRIPTOR& descriptor() const noexcept { return descriptor_; }

    [[nodiscard]] const ArrayFormat& format() const noexcept { return *format_; }

    [[nodiscard]] Context& context() const noexcept { return *context_; }

    [[nodiscard]] const void* belongs_to() const noexcept override { return context_.get(); }

    [[nodiscard]] Role role() const noexcept { return role_; }

    /// Returns the plane of an array with a planar format. Throws INVALID_VALUE if there is none.
    [[nodiscard]] std::shared_ptr<Array> plane(unsigned index) const;

    /// Returns the layout; of an array with planes, that of the first.
    [[nodiscard]] const ArrayLayout& layout() const noexcept { return layout_; }

    /// Returns the address of the first byte. Throws INVALID_VALUE if no memory is mapped.
    [[nodiscard]] std::uint64_t address() const;

    /// Returns the same, whether or not memory is mapped.
    [[nodiscard]] std::uint64_t base() const noexcept { return memory_->base() + layout_.offset; }

    [[nodiscard]] const std::shared_ptr<ArrayMemory>& memory() const noexcept { return memory_; }

private:
    friend class MipmappedArray;

    void invalidate() noexcept;

    std::shared_ptr<Context> context_;
    CUDA_ARRAY3D_DESCRIPTOR descriptor_;
    const ArrayFormat* format_;
    std::shared_ptr<ArrayMemory> memory_;
    Role role_;
    ArrayLayout layout_;
    std::vector<std::shared_ptr<Array>> planes_;
};

/// A CUmipmappedArray. Its levels exist as long as it does.
class MipmappedArray final : public Object {
public:
    /// Creates a mipmap in a context and gives it and its levels handles. The number of levels is
    /// clamped to what the size allows.
    [[nodiscard]] static std::shared_ptr<MipmappedArray>
    create(const std::shared_ptr<Context>& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
           unsigned level_count);

    /// Makes the memory of an array from its number of bytes and what reports call it.
    using MakeMemory =
        std::function<std::shared_ptr<ArrayMemory>(std::uint64_t bytes, const std::string& name)>;

    /// Does the same with memory that a function makes.
    [[nodiscard]] static std::shared_ptr<MipmappedArray>
    create(const std::shared_ptr<Context>& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor,
           unsigned level_count, const MakeMemory& make_memory);

    /// Invalidates all handles and frees the memory.
    void destroy();

    /// Notes that a mapped graphics resource owns the mipmap, and destroys it.
    void note_mapped() noexcept { is_mapped_ = true; }

    [[nodiscard]] bool is_mapped() const noexcept { return is_mapped_; }

    [[nodiscard]] const CUDA_ARRAY3D_DESCRIPTOR& descriptor() const noexcept { return descriptor_; }

    [[nodiscard]] Context& context() const noexcept { return *context_; }

    [[nodiscard]] const void* belongs_to() const noexcept override { return context_.get(); }

    [[nodiscard]] const std::vector<std::shared_ptr<Array>>& levels() const noexcept {
        return levels_;
    }

    /// Returns a level. Throws INVALID_VALUE and shows how many there are.
    [[nodiscard]] const std::shared_ptr<Array>& level(unsigned index) const;

    [[nodiscard]] const std::shared_ptr<ArrayMemory>& memory() const noexcept { return memory_; }

private:
    MipmappedArray() = default;

    std::shared_ptr<Context> context_;
    CUDA_ARRAY3D_DESCRIPTOR descriptor_{};
    std::shared_ptr<ArrayMemory> memory_;
    std::vector<std::shared_ptr<Array>> levels_;
    bool is_mapped_ = false;
};

/// Memory is mapped into deferred arrays in tiles of this size.
constexpr std::uint64_t MAPPING_ALIGNMENT_BYTES = std::uint64_t{64} << 10;

/// Returns what cuMemMapArrayAsync needs for an array or a mipmap that was created with
/// CUDA_ARRAY3D_DEFERRED_MAPPING. Throws INVALID_VALUE for others.
[[nodiscard]] CUDA_ARRAY_MEMORY_REQUIREMENTS memory_requirements(const Array& array);
[[nodiscard]] CUDA_ARRAY_MEMORY_REQUIREMENTS memory_requirements(const MipmappedArray& mipmap);

/// Destroys all arrays of a context.
void destroy_arrays_of(const Context& context);

} // namespace cuprum::emulator
