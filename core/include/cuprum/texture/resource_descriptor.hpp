// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/texture/array_format.hpp>
#include <cuprum/texture/mipmapped_array.hpp>
#include <cuprum/texture/opaque_array.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace cuprum {

/// The kind of memory behind a texture or a surface.
enum class ResourceKind : std::uint8_t {
    OpaqueArray,
    MipmappedArray, // textures only
    Linear,         // a buffer that kernels read by index; textures only
    Pitch2D,        // a buffer with the rows of an image; textures only
};

/// Elements in a buffer, one after another.
struct LinearElements {
    ArrayFormat format = ArrayFormat::Float32;  // one of the first eight
    unsigned num_channels = 1;                  // 1, 2 or 4
    std::optional<std::size_t> size_bytes = {}; // none means the whole buffer

    friend bool operator==(const LinearElements&, const LinearElements&) = default;
};

/// The rows of an image in a buffer.
struct PitchedRows {
    ArrayFormat format = ArrayFormat::Float32; // one of the first eight
    unsigned num_channels = 1;                 // 1, 2 or 4
    std::size_t width = 0;                     // elements
    std::size_t height = 0;                    // rows
    std::size_t pitch_bytes = 0;               // bytes from row to row

    friend bool operator==(const PitchedRows&, const PitchedRows&) = default;
};

/// The memory that a texture or a surface reads. It shares the array or the buffer.
///
/// @code
/// const auto resource = cuprum::ResourceDescriptor::from_linear(
///     buffer, {.format = cuprum::ArrayFormat::Float32, .num_channels = 1});
/// const auto texture = cuprum::TextureObject::create(resource);
/// @endcode
class CUPRUM_API ResourceDescriptor {
public:
    /// @throws ClosedError if the array is closed.
    [[nodiscard]] static ResourceDescriptor from_opaque_array(const OpaqueArray& array);
    /// Describes a mipmapped array.
    [[nodiscard]] static ResourceDescriptor from_mipmapped_array(const MipmappedArray& array);
    /// Describes a buffer that kernels read by index with `tex1Dfetch`. There is no filtering.
    /// @throws std::invalid_argument if the elements do not fill the bytes, or these do not fit the
    /// buffer.
    [[nodiscard]] static ResourceDescriptor from_linear(const Buffer& buffer,
                                                        const LinearElements& elements);
    /// Describes a buffer that holds the rows of an image.
    /// @throws std::invalid_argument if a size is 0, rows overlap, or they do not fit the buffer.
    [[nodiscard]] static ResourceDescriptor from_pitch2d(const Buffer& buffer,
                                                         const PitchedRows& rows);

    /// Returns what kind of memory it describes.
    [[nodiscard]] ResourceKind kind() const noexcept;

    /// Return what is described; null for another kind.
    [[nodiscard]] const OpaqueArray* opaque_array() const noexcept {
        return std::get_if<OpaqueArray>(&source_);
    }

    /// Returns the mipmapped array; null if it is another kind.
    [[nodiscard]] const MipmappedArray* mipmapped_array() const noexcept {
        return std::get_if<MipmappedArray>(&source_);
    }

    /// Returns the buffer; null if it is another kind.
    [[nodiscard]] const Buffer* buffer() const noexcept { return std::get_if<Buffer>(&source_); }

    /// Returns how the buffer is read; for linear memory, `width` counts elements and `height` is
    /// 0.
    [[nodiscard]] const PitchedRows& rows() const noexcept { return rows_; }

    /// Returns the bytes that are read of linear memory; 0 for other kinds.
    [[nodiscard]] std::size_t size_bytes() const noexcept;

    friend bool operator==(const ResourceDescriptor&, const ResourceDescriptor&) = default;

private:
    using Source = std::variant<OpaqueArray, MipmappedArray, Buffer>;

    explicit ResourceDescriptor(Source source, const PitchedRows& rows = {})
        : source_(std::move(source)), rows_(rows) {}

    Source source_;
    PitchedRows rows_; // of a buffer
};

/// Returns the name of the kind: "array", "mipmapped_array", "linear", "pitch2d".
[[nodiscard]] CUPRUM_API const char* to_string(ResourceKind kind) noexcept;
/// Returns kind and numbers for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const ResourceDescriptor& resource);

} // namespace cuprum
