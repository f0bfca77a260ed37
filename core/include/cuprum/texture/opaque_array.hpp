// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/context.hpp>
#include <cuprum/detail/closed.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/region.hpp>
#include <cuprum/stream.hpp>
#include <cuprum/strided_layout.hpp>
#include <cuprum/texture/array_format.hpp>
#include <cuprum/typed_view.hpp>

#include <cstddef>
#include <memory>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

namespace cuprum {

namespace detail {
struct Access;
struct ArrayState;
} // namespace detail

/// The size of an array in elements. A height or depth of 0 means that it has no such dimension.
struct ArrayExtent {
    std::size_t width = 0;  // elements in a row
    std::size_t height = 0; // rows; 0 for one dimension
    std::size_t depth = 0;  // slices; 0 for one or two dimensions

    friend bool operator==(const ArrayExtent&, const ArrayExtent&) = default;
};

/// How an array is made.
struct OpaqueArrayOptions {
    ArrayExtent extent = {};                   // the size, or that of a layer
    ArrayFormat format = ArrayFormat::Float32; // the type of a channel
    unsigned num_channels = 0;                 // 1, 2 or 4; 0 means the format's own number, or 1
    unsigned num_layers = 0;            // of 1-D or 2-D arrays, or of cubemaps; 0 means no layers
    bool is_cubemap = false;            // six square faces: width and height are equal, depth is 0
    bool is_surface_load_store = false; // kernels can write it through a SurfaceObject
    bool is_texture_gather = false;     // kernels can gather four neighbours; 2-D only
    bool is_depth_texture = false;      // it holds depth values of a graphics API
    bool is_color_attachment = false;   // a graphics API can draw into it
    bool is_sparse = false;             // its memory is mapped tile by tile, later
    bool is_deferred_mapping = false;   // its memory is mapped as a whole, later
    bool is_video = false;              // the video engines use it

    friend bool operator==(const OpaqueArrayOptions&, const OpaqueArrayOptions&) = default;
};

/// A box of elements in an array. A size of 0 means all from the first one to the end.
struct ArrayRegion {
    std::size_t x = 0;      // the first element of a row
    std::size_t y = 0;      // the first row
    std::size_t z = 0;      // the first slice, layer or face
    std::size_t width = 0;  // elements in a row
    std::size_t height = 0; // rows
    std::size_t depth = 0;  // slices, layers or faces

    friend bool operator==(const ArrayRegion&, const ArrayRegion&) = default;
};

/// The memory that an array with deferred mapping needs.
struct ArrayMemoryRequirements {
    std::size_t size = 0;      // bytes
    std::size_t alignment = 0; // bytes

    friend bool operator==(const ArrayMemoryRequirements&,
                           const ArrayMemoryRequirements&) = default;
};

/// How the memory of a sparse array is divided.
struct ArraySparseProperties {
    ArrayExtent tile = {};            // in elements
    unsigned miptail_first_level = 0; // the first level that lies in the mip tail
    std::size_t miptail_size = 0;     // bytes
    bool is_single_miptail = false;   // one mip tail for all layers

    friend bool operator==(const ArraySparseProperties&, const ArraySparseProperties&) = default;
};

/// Memory of a device in a layout that textures and surfaces read fast. It has no address: kernels
/// read it through a TextureObject and read and write it through a SurfaceObject.
///
/// Copies share one driver array, which is destroyed with the last of them and of the textures,
/// surfaces and graphs that use it. Several threads may use it at the same time.
///
/// @code
/// const auto array = device.create_opaque_array({.extent = {.width = 8, .height = 8}});
/// const std::vector<float> pixels(64, 1.0F);
/// array.copy_from_host(pixels, stream);
/// @endcode
class CUPRUM_API OpaqueArray {
public:
    /// Makes an array in a context.
    /// @throws std::invalid_argument if options contradict each other, or exceed a limit of the
    /// device: the text names the limit. OutOfMemoryError if the device has no memory left.
    [[nodiscard]] static OpaqueArray create(const Context& context,
                                            const OpaqueArrayOptions& options);
    /// Wraps an array made elsewhere, without owning it; `owner` is kept alive with it. It belongs
    /// to `context`, or to the current context if that is not given.
    [[nodiscard]] static OpaqueArray from_handle(CUarray handle, std::shared_ptr<void> owner = {});
    /// Wraps an array of a context, without owning it; `owner` is kept alive with it.
    [[nodiscard]] static OpaqueArray from_handle(CUarray handle, const Context& context,
                                                 std::shared_ptr<void> owner = {});

    /// Returns the driver's `CUarray`.
    [[nodiscard]] CUarray handle() const;
    /// Returns how it was made, as the driver sees it.
    [[nodiscard]] OpaqueArrayOptions options() const;
    /// Returns the size of the array, or of one layer or face.
    [[nodiscard]] ArrayExtent extent() const;
    /// Returns the type of a channel.
    [[nodiscard]] ArrayFormat format() const;
    /// Returns the channels of an element.
    [[nodiscard]] unsigned num_channels() const;
    /// Returns the number of layers, of cubemaps if it is a cubemap; 0 if it has no layers.
    [[nodiscard]] unsigned num_layers() const;
    /// Returns whether it has six faces.
    [[nodiscard]] bool is_cubemap() const;
    /// Returns whether kernels can write it through a SurfaceObject.
    [[nodiscard]] bool is_surface_load_store() const;
    /// Returns the bytes of one element, or of one block of a compressed format.
    [[nodiscard]] std::size_t element_bytes() const;
    /// Returns the bytes of all elements, as a copy to linear memory takes them. The device can use
    /// more. It is 0 for a format of several planes: copy them one by one, see plane().
    [[nodiscard]] std::size_t size_bytes() const;
    /// Returns the context that it belongs to.
    [[nodiscard]] Context context() const;
    /// Returns the device that it lies on.
    [[nodiscard]] Device device() const;

    /// Returns the memory that an array with deferred mapping needs.
    /// @throws std::invalid_argument if the array has its own memory.
    [[nodiscard]] ArrayMemoryRequirements memory_requirements() const;
    /// Returns how the memory of a sparse array is divided.
    /// @throws std::invalid_argument if the array is not sparse.
    [[nodiscard]] ArraySparseProperties sparse_properties() const;
    /// Returns one plane of a video format as an array that keeps this one alive.
    /// @throws std::invalid_argument if the format has no such plane.
    [[nodiscard]] OpaqueArray plane(unsigned index) const;

    /// Copies all elements from a buffer, ordered on `stream`. Returns at once. Rows, slices and
    /// layers lie in the buffer without gaps.
    /// @throws std::invalid_argument if the buffer is smaller than size_bytes(), or the stream
    /// belongs to another device.
    void copy_from(const Buffer& source, const Stream& stream) const;
    /// Copies a region from a place in a buffer, ordered on `stream`.
    /// @throws std::invalid_argument if the region does not lie in the array, or the rows not in
    /// the buffer.
    void copy_from(const Buffer& source, const RegionPlace& from, const ArrayRegion& to,
                   const Stream& stream) const;
    /// Copies all elements of an array of the same size and element size, ordered on `stream`.
    void copy_from(const OpaqueArray& source, const Stream& stream) const;
    /// Copies a region of another array, ordered on `stream`. Sizes of 0 in `to` mean those of
    /// `from`. Within one array the regions must not overlap.
    void copy_from(const OpaqueArray& source, const ArrayRegion& from, const ArrayRegion& to,
                   const Stream& stream) const;

    /// Copies all elements to a buffer, ordered on `stream`. Returns at once.
    void copy_to(const Buffer& destination, const Stream& stream) const;
    /// Copies a region to a place in a buffer, ordered on `stream`.
    void copy_to(const Buffer& destination, const RegionPlace& to, const ArrayRegion& from,
                 const Stream& stream) const;
    /// Copies all elements to an array of the same size and element size, ordered on `stream`.
    void copy_to(const OpaqueArray& destination, const Stream& stream) const;

    /// Copies from a contiguous range on the host: all elements, or a region.
    ///
    /// The range has as many numbers as are copied, of the type of the array's channels. A
    /// structure or an unsigned integer can stand for a whole element. Single bytes are copied as
    /// they are, from the first one on.
    ///
    /// Returns when the host memory may be reused if it is pageable. Pinned memory must stay
    /// untouched until the stream gets there, and so must all memory of a captured copy.
    /// @throws std::invalid_argument if the range has another size or another type of numbers, or
    /// fewer bytes than are copied.
    template <std::ranges::contiguous_range Range>
    void copy_from_host(const Range& source, const Stream& stream) const {
        copy_from_host(source, ArrayRegion{}, stream);
    }

    /// Copies a region from a contiguous range on the host.
    template <std::ranges::contiguous_range Range>
    void copy_from_host(const Range& source, const ArrayRegion& to, const Stream& stream) const {
        static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>,
                      "memory holds plain values only");
        if constexpr (sizeof(std::ranges::range_value_t<Range>) == 1) {
            copy_from_host_bytes(std::ranges::data(source), std::ranges::size(source), {}, to,
                                 stream);
        } else {
            copy_from_host_view(std::ranges::data(source), layout_of(source),
                                dlpack::type_of<std::ranges::range_value_t<Range>>(), to, stream);
        }
    }

    /// Copies from a view of host memory, whose rows and slices may have gaps. The extents of the
    /// view are those of the region, slowest first, and the last axis may hold the channels.
    /// @throws std::invalid_argument if shape or type differ.
    template <typename T, std::size_t Rank>
    void copy_from_host(const TypedView<T, Rank>& source, const Stream& stream) const {
        copy_from_host(source, ArrayRegion{}, stream);
    }

    /// Copies a region from a view of host memory.
    template <typename T, std::size_t Rank>
    void copy_from_host(const TypedView<T, Rank>& source, const ArrayRegion& to,
                        const Stream& stream) const {
        copy_from_host_view(source.data(), source.layout(), dlpack::type_of<T>(), to, stream);
    }

    /// Copies to a contiguous range on the host. It holds the data once the stream has got there
    /// and must stay alive until then.
    template <std::ranges::contiguous_range Range>
    void copy_to_host(Range&& destination, const Stream& stream) const {
        copy_to_host(std::forward<Range>(destination), ArrayRegion{}, stream);
    }

    /// Copies a region to a contiguous range on the host.
    template <std::ranges::contiguous_range Range>
    void copy_to_host(Range&& destination, const ArrayRegion& from, const Stream& stream) const {
        static_assert(std::is_trivially_copyable_v<std::ranges::range_value_t<Range>>,
                      "memory holds plain values only");
        static_assert(std::ranges::borrowed_range<Range>,
                      "a temporary is gone before the copy arrives in it");
        if constexpr (sizeof(std::ranges::range_value_t<Range>) == 1) {
            copy_to_host_bytes(std::ranges::data(destination), std::ranges::size(destination), {},
                               from, stream);
        } else {
            copy_to_host_view(std::ranges::data(destination), layout_of(destination),
                              dlpack::type_of<std::ranges::range_value_t<Range>>(), from, stream);
        }
    }

    /// Copies all elements to a view of host memory, whose rows and slices may have gaps.
    template <typename T, std::size_t Rank>
    void copy_to_host(const TypedView<T, Rank>& destination, const Stream& stream) const {
        copy_to_host(destination, ArrayRegion{}, stream);
    }

    /// Copies a region to a view of host memory.
    template <typename T, std::size_t Rank>
    void copy_to_host(const TypedView<T, Rank>& destination, const ArrayRegion& from,
                      const Stream& stream) const {
        static_assert(!std::is_const_v<T>, "the destination must not be constant");
        copy_to_host_view(destination.data(), destination.layout(), dlpack::type_of<T>(), from,
                          stream);
    }

    /// Copies a region from a place in `bytes` bytes of host memory; see copy_from_host.
    void copy_from_host_bytes(const void* source, std::size_t bytes, const RegionPlace& from,
                              const ArrayRegion& to, const Stream& stream) const;
    /// Copies a region to a place in `bytes` bytes of host memory; see copy_to_host.
    void copy_to_host_bytes(void* destination, std::size_t bytes, const RegionPlace& to,
                            const ArrayRegion& from, const Stream& stream) const;
    /// Copies a region from host memory with a layout; see copy_from_host. A `type` without bits is
    /// not checked. `name` is what messages call the memory.
    void copy_from_host_view(const void* source, const StridedLayout& layout, dlpack::DataType type,
                             const ArrayRegion& to, const Stream& stream,
                             const char* name = "source") const;
    /// Copies a region to host memory with a layout; see copy_from_host_view.
    void copy_to_host_view(void* destination, const StridedLayout& layout, dlpack::DataType type,
                           const ArrayRegion& from, const Stream& stream,
                           const char* name = "destination") const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Textures, surfaces and graphs that use the array keep theirs. Calling
    /// it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Compares the driver's arrays.
    friend CUPRUM_API bool operator==(const OpaqueArray& left, const OpaqueArray& right) noexcept;

private:
    friend struct detail::Access;

    template <typename Range>
    [[nodiscard]] static StridedLayout layout_of(const Range& range) {
        return {{static_cast<StridedLayout::Index>(std::ranges::size(range))},
                sizeof(std::ranges::range_value_t<Range>)};
    }

    explicit OpaqueArray(std::shared_ptr<detail::ArrayState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::ArrayState> state_;
};

/// Returns size and format for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const OpaqueArray& array);
/// Returns the sizes, "32 x 16".
[[nodiscard]] CUPRUM_API std::string to_string(const ArrayExtent& extent);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::OpaqueArray> {
    [[nodiscard]] CUPRUM_API std::size_t
    operator()(const cuprum::OpaqueArray& array) const noexcept;
};
