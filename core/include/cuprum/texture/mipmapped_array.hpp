// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>
#include <cuprum/texture/opaque_array.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace cuprum {

namespace detail {
struct Access;
struct MipmapState;
} // namespace detail

/// How a mipmapped array is made.
struct MipmappedArrayOptions {
    OpaqueArrayOptions array = {}; // of level 0
    unsigned num_levels = 0;       // 0 means all levels, down to one element

    friend bool operator==(const MipmappedArrayOptions&, const MipmappedArrayOptions&) = default;
};

/// An array with smaller versions of itself: each level has half the size of the one before.
///
/// Copies share one driver object, which is destroyed with the last of them and of its levels,
/// textures and graphs. Several threads may use it at the same time.
///
/// @code
/// const cuprum::MipmappedArray array =
///     device.create_mipmapped_array({.array = {.extent = {.width = 8, .height = 8}}});
/// assert(array.num_levels() == 4); // 8, 4, 2 and 1 element wide
/// const cuprum::OpaqueArray half = array.level(1);
/// @endcode
class CUPRUM_API MipmappedArray {
public:
    /// Makes a mipmapped array in a context.
    /// @throws std::invalid_argument if options contradict each other, there cannot be so many
    /// levels, or a size exceeds a limit of the device. OutOfMemoryError without enough memory.
    [[nodiscard]] static MipmappedArray create(const Context& context,
                                               const MipmappedArrayOptions& options);
    /// Wraps a mipmapped array made elsewhere, without owning it; `owner` is kept alive with it. It
    /// belongs to `context`. The driver cannot tell how many levels it has.
    [[nodiscard]] static MipmappedArray from_handle(CUmipmappedArray handle, unsigned num_levels,
                                                    const Context& context,
                                                    std::shared_ptr<void> owner = {});

    /// Returns the driver's `CUmipmappedArray`.
    [[nodiscard]] CUmipmappedArray handle() const;
    /// Returns how it was made.
    [[nodiscard]] MipmappedArrayOptions options() const;
    /// Returns the number of levels.
    [[nodiscard]] unsigned num_levels() const;
    /// Returns the size of level 0.
    [[nodiscard]] ArrayExtent extent() const;
    /// Returns the type of a channel.
    [[nodiscard]] ArrayFormat format() const;
    /// Returns the channels of an element.
    [[nodiscard]] unsigned num_channels() const;
    /// Returns the number of layers; 0 if it has none.
    [[nodiscard]] unsigned num_layers() const;
    /// Returns whether it has six faces.
    [[nodiscard]] bool is_cubemap() const;
    /// Returns whether kernels can write it through a SurfaceObject.
    [[nodiscard]] bool is_surface_load_store() const;
    /// Returns the context that it belongs to.
    [[nodiscard]] Context context() const;
    /// Returns the device that it lies on.
    [[nodiscard]] Device device() const;

    /// Returns a level as an array, which keeps the whole alive.
    /// @throws std::invalid_argument if there is no such level.
    [[nodiscard]] OpaqueArray level(unsigned index) const;

    /// Returns the memory that an array with deferred mapping needs.
    /// @throws std::invalid_argument if the array has its own memory.
    [[nodiscard]] ArrayMemoryRequirements memory_requirements() const;
    /// Returns how the memory of a sparse array is divided.
    /// @throws std::invalid_argument if the array is not sparse.
    [[nodiscard]] ArraySparseProperties sparse_properties() const;

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this share. Levels, textures and graphs keep theirs. Calling it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Compares the driver's arrays.
    friend CUPRUM_API bool operator==(const MipmappedArray& left,
                                      const MipmappedArray& right) noexcept;

private:
    friend struct detail::Access;

    explicit MipmappedArray(std::shared_ptr<detail::MipmapState> state) noexcept
        : state_(std::move(state)) {}

    std::shared_ptr<detail::MipmapState> state_;
};

/// Returns size, format and levels for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const MipmappedArray& array);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::MipmappedArray> {
    [[nodiscard]] CUPRUM_API std::size_t
    operator()(const cuprum::MipmappedArray& array) const noexcept;
};
