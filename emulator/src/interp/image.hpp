// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the texture and surface instructions read: the description of an image, and the table that
// finds it by its handle.
//
// objects/ fills in an `Image` for every texture object, surface object and bound reference, and
// puts it into `ImageTable`. A kernel passes the 64-bit handle that `insert` returned. A variable
// of type .texref, .samplerref or .surfref is 8 bytes of global memory that hold such a handle; 0
// means that nothing is bound. Instructions take the handle itself or the address of such a
// variable: no handle is an address.
//
//   bits  0..19  slot
//   bits 20..51  generation of the slot
//   bits 56..63  0x74 (texture) or 0x73 (surface)
//
// Texels are stored in rows. Texel (x, y, z) of level l is at
//   levels[l].data + z * levels[l].slice_bytes + y * levels[l].pitch_bytes + x * texel_bytes.
// z is the layer of a layered image, the face of a cube (in the order +x -x +y -y +z -z) and
// 6 * layer + face of a layered cube. Block-compressed images are stored as blocks of 4 x 4 texels:
// x and y then count blocks, texel_bytes is the size of a block (8 or 16).

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cuprum::emulator {

/// The numbers in a texel.
enum class TexelFormat : std::uint8_t {
    U8,
    U16,
    U32,
    S8,
    S16,
    S32,
    F16,
    F32,
    Unorm8, // reads as a float from 0 to 1, whatever the read mode
    Unorm16,
    Snorm8, // from -1 to 1
    Snorm16,
    Unorm10x3A2, // 10 bits each of red, green and blue, 2 bits of alpha, in one 32-bit word
    Bc1,         // from here on: blocks of 4 x 4 texels
    Bc2,
    Bc3,
    Bc4Unorm,
    Bc4Snorm,
    Bc5Unorm,
    Bc5Snorm,
    Bc6hUnsigned,
    Bc6hSigned,
    Bc7,
};

/// Returns whether a format stores blocks of 4 x 4 texels.
[[nodiscard]] constexpr bool is_block_compressed(TexelFormat format) {
    return format >= TexelFormat::Bc1;
}

/// The dimensions of an image.
enum class ImageShape : std::uint8_t {
    Line,        // 1-D
    Plane,       // 2-D
    Volume,      // 3-D
    LineLayers,  // layered 1-D
    PlaneLayers, // layered 2-D
    Cube,
    CubeLayers,
};

/// What the texels of an image lie in.
enum class ImageSource : std::uint8_t {
    Array,
    MipmappedArray,
    Linear,  // linear memory: read by index only, without filter and address modes
    Pitched, // rows of linear memory, 2-D
};

/// What happens to coordinates outside the image.
enum class AddressMode : std::uint8_t { Wrap, Clamp, Mirror, Border };

enum class ImageFilter : std::uint8_t { Point, Linear };

constexpr std::uint64_t SAMPLER_TAG = 0x6d;
constexpr std::uint32_t SAMPLER_TAG_SHIFT = 56;

/// How a texture is read.
struct Sampler {
    std::array<AddressMode, 3> modes{AddressMode::Clamp, AddressMode::Clamp, AddressMode::Clamp};
    ImageFilter filter = ImageFilter::Point;
    ImageFilter level_filter = ImageFilter::Point;
    bool reads_integers = false; // CU_TRSF_READ_AS_INTEGER, as the user set it
    bool is_normalized = false;  // coordinates from 0 to 1
    bool is_srgb = false;        // the flag, or the format of the array
    bool is_seamless = false;    // filters across the edges of a cube
    bool disables_trilinear = false;
    std::uint32_t max_anisotropy = 0;
    float level_bias = 0;
    float min_level = 0;
    float max_level = 0;
    std::array<float, 4> border{};
};

/// Returns the filter, address modes and kind of coordinates of a sampler as one number, which is
/// the content of a .samplerref variable. No handle and no address has this form.
[[nodiscard]] constexpr std::uint64_t packed_sampler(const Sampler& sampler) {
    std::uint64_t bits = SAMPLER_TAG << SAMPLER_TAG_SHIFT;
    for (std::size_t axis = 0; axis < sampler.modes.size(); ++axis) {
        bits |= static_cast<std::uint64_t>(sampler.modes[axis]) << 2 * axis;
    }
    return bits | std::uint64_t{sampler.filter == ImageFilter::Linear} << 6 |
           std::uint64_t{sampler.is_normalized} << 7;
}

/// Changes a sampler to what packed_sampler() packed; the rest stays. Returns whether `bits` is
/// such a number.
[[nodiscard]] constexpr bool unpack_sampler(std::uint64_t bits, Sampler& sampler) {
    if (bits >> SAMPLER_TAG_SHIFT != SAMPLER_TAG) {
        return false;
    }
    for (std::size_t axis = 0; axis < sampler.modes.size(); ++axis) {
        sampler.modes[axis] = static_cast<AddressMode>(bits >> 2 * axis & 3);
    }
    sampler.filter = (bits >> 6 & 1) != 0 ? ImageFilter::Linear : ImageFilter::Point;
    sampler.is_normalized = sampler.is_normalized && (bits >> 7 & 1) != 0;
    return true;
}

/// One level of an image. All sizes are in texels, also those of block-compressed images.
struct ImageLevel {
    std::byte* data = nullptr;
    std::uint32_t width = 0;
    std::uint32_t height = 1; // 1 if the image is a line
    std::uint32_t depth = 1;  // of a volume
    std::uint64_t pitch_bytes = 0;
    std::uint64_t slice_bytes = 0;
};

/// An image as one texture object or surface object sees it.
///
/// A resource view has been applied: `format`, `channels`, `levels` and `layers` are those of the
/// view, and level 0 is its first level.
struct Image {
    static constexpr std::uint32_t MAX_LEVELS = 16;

    ImageShape shape = ImageShape::Line;
    ImageSource source = ImageSource::Array;
    TexelFormat format = TexelFormat::U8;
    std::uint8_t channels = 1;    // 1, 2 or 4; what the format has if it is packed or compressed
    std::uint8_t texel_bytes = 1; // of a block if compressed
    std::uint8_t level_count = 1;
    std::uint32_t layers = 1; // of layered shapes; cubes of 6 faces each
    std::array<ImageLevel, MAX_LEVELS> levels;
    Sampler sampler; // only of textures
    /// Linear and pitched memory: the address range that must be mapped when a kernel reads.
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    /// Keeps the texels alive until the handle is erased and its slot used again.
    std::shared_ptr<const void> owner;
};

/// Which instructions accept a handle.
enum class ImageUse : std::uint8_t { Texture, Surface };

/// All images that kernels can reach, for the whole process.
///
/// Lookups take no lock. Slots never move and are never freed, so a pointer from find() stays
/// readable; its content changes only when an erased slot is used again.
class ImageTable {
public:
    /// Returns the process's table; never destroyed.
    [[nodiscard]] static ImageTable& instance();

    /// Gives an image a handle. Throws std::bad_alloc if all slots are in use.
    [[nodiscard]] std::uint64_t insert(ImageUse use, Image image);

    /// Replaces the image of a live handle. The caller ensures that no kernel reads it.
    void replace(std::uint64_t handle, Image image);

    /// Marks a live handle as unusable because its memory is gone. `reason` completes the sentence
    /// "the texture cannot be read: ", such as "its array was destroyed".
    void retire(std::uint64_t handle, std::string reason);

    /// Invalidates a handle. Does nothing for other values.
    void erase(std::uint64_t handle);

    /// Returns the image of a live handle that is not retired, or nullptr for any other value.
    [[nodiscard]] const Image* find(ImageUse use, std::uint64_t handle) const noexcept {
        if (handle >> TAG_SHIFT != tag_of(use)) {
            return nullptr;
        }
        const std::uint64_t slot = handle & SLOT_MASK;
        const Slot* const chunk = chunks_[slot / CHUNK_SLOTS].load(std::memory_order_acquire);
        if (chunk == nullptr) {
            return nullptr;
        }
        const Slot& each = chunk[slot % CHUNK_SLOTS];
        return each.live.load(std::memory_order_acquire) == handle ? &each.image : nullptr;
    }

    /// Says why find() returns nullptr for a value, to complete "the handle 0x... ".
    [[nodiscard]] std::string explain(ImageUse use, std::uint64_t handle) const;

    /// Returns the number of live handles, retired ones included.
    [[nodiscard]] std::size_t count(ImageUse use) const;

private:
    static constexpr std::uint64_t SLOT_MASK = (1u << 20) - 1;
    static constexpr std::uint32_t GENERATION_SHIFT = 20;
    static constexpr std::uint32_t TAG_SHIFT = 56;
    static constexpr std::size_t CHUNK_SLOTS = 64;
    static constexpr std::size_t MAX_CHUNKS = (SLOT_MASK + 1) / CHUNK_SLOTS;

    struct Slot {
        std::atomic<std::uint64_t> live{0}; // the handle while find() may return the image
        std::uint64_t handle = 0;           // also of a retired image; 0: free
        std::uint32_t generation = 0;
        std::string reason; // why the image is retired
        Image image;
    };

    [[nodiscard]] static constexpr std::uint64_t tag_of(ImageUse use) {
        return use == ImageUse::Texture ? 0x74 : 0x73;
    }

    [[nodiscard]] Slot* slot_of(std::uint64_t handle) const;

    std::array<std::atomic<Slot*>, MAX_CHUNKS> chunks_{}; // made on demand, never freed
    mutable std::mutex mutex_;                            // guards everything but find()
    std::size_t slot_count_ = 0;
    std::vector<std::uint32_t> free_;
    std::array<std::size_t, 2> counts_{};
};

} // namespace cuprum::emulator
