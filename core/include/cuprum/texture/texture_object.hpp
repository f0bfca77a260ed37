// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/context.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/handle_argument.hpp>
#include <cuprum/device.hpp>
#include <cuprum/texture/resource_descriptor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace cuprum {

/// What a texture returns outside its bounds.
enum class AddressMode : std::uint8_t {
    Wrap,   // the texture repeats; needs normalized_coords
    Clamp,  // the element at the edge
    Mirror, // the texture repeats, every second time mirrored; needs normalized_coords
    Border, // border_color
};

/// How a texture interpolates between elements, or between levels.
enum class FilterMode : std::uint8_t { Point, Linear };

/// What kernels get for integers.
enum class ReadMode : std::uint8_t {
    ElementType,     // the integers
    NormalizedFloat, // numbers from 0 to 1, or from -1 to 1; for integers of 8 and 16 bits
};

/// How a resource view reads elements, with the driver's numbers.
enum class ResourceViewFormat : std::uint8_t {
    None = 0x00,
    UInt8x1 = 0x01,
    UInt8x2 = 0x02,
    UInt8x4 = 0x03,
    Int8x1 = 0x04,
    Int8x2 = 0x05,
    Int8x4 = 0x06,
    UInt16x1 = 0x07,
    UInt16x2 = 0x08,
    UInt16x4 = 0x09,
    Int16x1 = 0x0a,
    Int16x2 = 0x0b,
    Int16x4 = 0x0c,
    UInt32x1 = 0x0d,
    UInt32x2 = 0x0e,
    UInt32x4 = 0x0f,
    Int32x1 = 0x10,
    Int32x2 = 0x11,
    Int32x4 = 0x12,
    Float16x1 = 0x13,
    Float16x2 = 0x14,
    Float16x4 = 0x15,
    Float32x1 = 0x16,
    Float32x2 = 0x17,
    Float32x4 = 0x18,
    UnsignedBC1 = 0x19,
    UnsignedBC2 = 0x1a,
    UnsignedBC3 = 0x1b,
    UnsignedBC4 = 0x1c,
    SignedBC4 = 0x1d,
    UnsignedBC5 = 0x1e,
    SignedBC5 = 0x1f,
    UnsignedBC6H = 0x20,
    SignedBC6H = 0x21,
    UnsignedBC7 = 0x22,
};

/// A part of an array, read in another format of the same size. Numbers count from 0.
///
/// A compressed format needs an array of UInt32 with two channels (BC1, BC4) or four (the others),
/// one element for each block of 4 by 4.
struct ResourceView {
    ResourceViewFormat format = ResourceViewFormat::None; // None means that of the array
    unsigned first_level = 0;                             // the first level that is used
    std::optional<unsigned> last_level = {};              // none means the last one
    unsigned first_layer = 0;                             // of a cubemap, faces count
    std::optional<unsigned> last_layer = {};              // none means the last one

    friend bool operator==(const ResourceView&, const ResourceView&) = default;
};

/// How a texture reads its elements.
struct TextureObjectOptions {
    /// What is read outside of the texture, for each axis.
    std::array<AddressMode, 3> address_mode = {AddressMode::Clamp, AddressMode::Clamp,
                                               AddressMode::Clamp};
    FilterMode filter_mode = FilterMode::Point; // how elements are mixed
    ReadMode read_mode = ReadMode::ElementType; // what kernels read
    bool normalized_coords = false;             // from 0 to 1, not from 0 to the size
    bool srgb = false; // converts sRGB to linear values; for 8-bit elements
    bool disable_trilinear_optimization = false;       // exact filtering between levels
    bool seamless_cubemap = false;                     // filters across the edges of a cubemap
    unsigned max_anisotropy = 0;                       // the driver limits it to 16
    FilterMode mipmap_filter_mode = FilterMode::Point; // how levels are mixed
    float mipmap_level_bias = 0;                       // added to the level
    float min_mipmap_level_clamp = 0;                  // the smallest level
    float max_mipmap_level_clamp = 0;                  // the largest level
    std::array<float, 4> border_color = {};            // what AddressMode::Border reads
    std::optional<ResourceView> view = {};             // of an array

    friend bool operator==(const TextureObjectOptions&, const TextureObjectOptions&) = default;
};

/// A handle by which kernels read an array or a buffer as a texture.
///
/// It keeps the memory alive. Pass it to `launch` for a parameter of type `cudaTextureObject_t`.
/// Copies share one driver object, which is destroyed with the last of them and of the graphs that
/// use it. Keep it until the kernels that read it are done.
///
/// @code
/// const auto array = device.create_opaque_array({.extent = {.width = 8, .height = 8}});
/// const auto resource = cuprum::ResourceDescriptor::from_opaque_array(array);
/// const auto texture = cuprum::TextureObject::create(
///     resource, {.filter_mode = cuprum::FilterMode::Linear}); // pass it to a kernel
/// @endcode
class CUPRUM_API TextureObject : public detail::HandleArgument {
public:
    /// The name of the class, for messages.
    static constexpr const char* CLASS_NAME = "TextureObject";

    /// Makes a texture in the context of the array, or for a buffer in the context that methods of
    /// its device act in.
    /// @throws std::invalid_argument if the options do not fit the resource, or exceed a limit of
    /// the device; ClosedError if the resource is closed.
    [[nodiscard]] static TextureObject create(const ResourceDescriptor& resource,
                                              const TextureObjectOptions& options = {});

    /// Returns the handle that kernels take.
    /// @throws ClosedError if the texture is closed or a device reset destroyed it.
    [[nodiscard]] CUtexObject handle() const;
    /// Returns what the texture reads.
    [[nodiscard]] const ResourceDescriptor& resource() const;
    /// Returns how the texture reads.
    [[nodiscard]] const TextureObjectOptions& options() const;
    /// Returns the context that it belongs to.
    [[nodiscard]] Context context() const;
    /// Returns the device that it lies on.
    [[nodiscard]] Device device() const;

    /// Compares the driver's objects.
    friend CUPRUM_API bool operator==(const TextureObject& left,
                                      const TextureObject& right) noexcept;

private:
    friend struct detail::Access;
    using detail::HandleArgument::HandleArgument;
};

/// Returns the handle for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const TextureObject& texture);
/// Returns the name of a mode.
[[nodiscard]] CUPRUM_API const char* to_string(AddressMode mode) noexcept;
/// Returns the name of a mode.
[[nodiscard]] CUPRUM_API const char* to_string(FilterMode mode) noexcept;
/// Returns the name of a mode.
[[nodiscard]] CUPRUM_API const char* to_string(ReadMode mode) noexcept;

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::TextureObject> {
    [[nodiscard]] CUPRUM_API std::size_t
    operator()(const cuprum::TextureObject& texture) const noexcept;
};
