// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/argument_type.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/device.hpp>
#include <cuprum/dlpack.hpp>
#include <cuprum/strided_layout.hpp>
#include <cuprum/strided_memory_view.hpp>
#include <cuprum/typed_buffer.hpp>
#include <cuprum/typed_view.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace cuprum {

namespace detail {
struct TensorMapEncoder;
}

/// The type of a tensor's elements. The packed types need compute capability 10.0.
enum class TensorMapDataType : std::uint8_t {
    UInt8,
    UInt16,
    UInt32,
    Int32,
    UInt64,
    Int64,
    Float16,
    Float32,
    Float64,
    BFloat16,
    Float32FTZ,         // denormal numbers become 0
    TFloat32,           // float with 10 bits of mantissa
    TFloat32FTZ,        // the same, and denormal numbers become 0
    Packed16U4Align8B,  // 4 bits each, without gaps
    Packed16U4Align16B, // 4 bits each; in shared memory, 8 bytes of gap follow 16 elements
    Packed16U6Align16B, // 6 bits each; in shared memory, 4 bytes of gap follow 16 elements
};

namespace detail {

/// Returns the bits of one element in global memory.
[[nodiscard]] constexpr std::uint32_t element_bits(TensorMapDataType type) noexcept {
    constexpr std::uint8_t BITS[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
    return BITS[static_cast<unsigned>(type)];
}

/// Returns the type that tensor maps have for T; nothing if they have none.
template <typename T>
[[nodiscard]] constexpr std::optional<TensorMapDataType> tensor_map_type() noexcept {
    using enum TensorMapDataType;
    if constexpr (std::floating_point<T> && sizeof(T) <= sizeof(double)) {
        return sizeof(T) == sizeof(double)  ? Float64
               : sizeof(T) == sizeof(float) ? Float32
                                            : Float16;
    } else if constexpr (std::signed_integral<T> && sizeof(T) >= sizeof(std::int32_t)) {
        return sizeof(T) == sizeof(std::int64_t) ? Int64 : Int32;
    } else if constexpr (std::unsigned_integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8) {
        constexpr TensorMapDataType TYPES[] = {UInt8, UInt16, UInt32, UInt64};
        return TYPES[std::bit_width(sizeof(T)) - 1];
    } else {
        return {};
    }
}

} // namespace detail

/// Whether the channels of a tensor lie in slices of 16 or 32 bytes, as in NC/8HWC8.
enum class TensorMapInterleave : std::uint8_t { None, Bytes16, Bytes32 };

/// How a copy permutes 16-byte pieces in shared memory, so that columns avoid bank conflicts. The
/// atom forms move larger pieces and need compute capability 10.0.
enum class TensorMapSwizzle : std::uint8_t {
    None,
    Bytes32,
    Bytes64,
    Bytes128,
    Bytes128Atom32,
    Bytes128Atom32Flip8,
    Bytes128Atom64,
};

/// How many bytes the L2 cache fetches at once.
enum class TensorMapL2Promotion : std::uint8_t { None, Bytes64, Bytes128, Bytes256 };

/// What a load writes for elements outside the tensor: 0, or a NaN that fused multiplications treat
/// as 0.
enum class TensorMapOOBFill : std::uint8_t { None, NaNRequestZeroFMA };

/// Which pixels a wide im2col copy loads: as many as the map says, or 128.
enum class TensorMapIm2ColWideMode : std::uint8_t { W, W128 };

/// How coordinates select elements.
enum class TensorMapMode : std::uint8_t { Tiled, Im2Col, Im2ColWide };

/// Up to five numbers, one for each axis of a tensor. It allocates nothing.
///
/// @code
/// const cuprum::TensorMapExtents box{4, 8};
/// assert(box.size() == 2 && box[1] == 8);
/// @endcode
class TensorMapExtents {
public:
    /// The largest number of axes.
    static constexpr std::size_t MAXIMUM = 5;

    constexpr TensorMapExtents() = default;

    /// Takes one number for each axis.
    // NOLINTNEXTLINE(google-explicit-constructor): as a container does
    constexpr TensorMapExtents(std::initializer_list<std::int64_t> values) noexcept
        : TensorMapExtents(std::span<const std::int64_t>(values.begin(), values.size())) {}

    /// Takes one number for each axis.
    // NOTE: no loop, so that compilers keep the numbers in registers.
    explicit constexpr TensorMapExtents(std::span<const std::int64_t> values) noexcept
        : values_{number(values, 0), number(values, 1), number(values, 2), number(values, 3),
                  number(values, 4)},
          count_(values.size()) {}

    /// Returns how many numbers were given, also if they are more than can be stored.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }

    /// Returns whether no number was given.
    [[nodiscard]] constexpr bool is_empty() const noexcept { return count_ == 0; }

    /// Returns one of the numbers; `index` must be less than `MAXIMUM`.
    [[nodiscard]] constexpr std::int64_t operator[](std::size_t index) const noexcept {
        return values_[index];
    }

    /// Returns a copy that is made number by number. After a plain copy, compilers keep the
    /// original in memory.
    [[nodiscard]] constexpr TensorMapExtents each() const noexcept {
        TensorMapExtents made;
        made.values_ = {values_[0], values_[1], values_[2], values_[3], values_[4]};
        made.count_ = count_;
        return made;
    }

private:
    [[nodiscard]] static constexpr std::int64_t number(std::span<const std::int64_t> values,
                                                       std::size_t index) noexcept {
        return index < values.size() ? values[index] : 0;
    }

    std::array<std::int64_t, MAXIMUM> values_{};
    std::size_t count_ = 0;
};

/// What a map is made of, besides the tensor. Numbers follow the tensor's axes, outermost first.
struct TensorMapDescriptorOptions {
    TensorMapExtents box_dim = {};         // the size of one copy, 1 to 256 elements on each axis
    TensorMapExtents element_strides = {}; // 1 to 8: copy every n-th element; none means all 1
    std::optional<TensorMapDataType> data_type = {};            // none means the tensor's own
    TensorMapInterleave interleave = TensorMapInterleave::None; // how channels are grouped
    TensorMapSwizzle swizzle = TensorMapSwizzle::None; // how rows are permuted in shared memory
    TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::None; // how much the L2 cache fetches
    TensorMapOOBFill oob_fill = TensorMapOOBFill::None;             // what lies outside the tensor
};

/// What an im2col map is made of. The tensor is NWC, NHWC or NDHWC; corners have one number for
/// each axis between the first and the last.
struct TensorMapIm2ColOptions {
    /// Offsets of the box from the tensor's first pixel.
    TensorMapExtents pixel_box_lower_corner = {};
    TensorMapExtents pixel_box_upper_corner = {};               // offsets from its last pixel
    std::int64_t channels_per_pixel = 0;                        // 1 to 256
    std::int64_t pixels_per_column = 0;                         // 1 to 1024
    TensorMapExtents element_strides = {};                      // 1 to 8; none means all 1
    std::optional<TensorMapDataType> data_type = {};            // none means the tensor's own
    TensorMapInterleave interleave = TensorMapInterleave::None; // how channels are grouped
    TensorMapSwizzle swizzle = TensorMapSwizzle::None; // how rows are permuted in shared memory
    TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::None; // how much the L2 cache fetches
    TensorMapOOBFill oob_fill = TensorMapOOBFill::None;             // what lies outside the tensor
};

/// What a wide im2col map is made of: the box has a size along W only.
struct TensorMapIm2ColWideOptions {
    std::int64_t pixel_box_lower_corner_width = 0;   // offset of the box from the first pixel
    std::int64_t pixel_box_upper_corner_width = 0;   // offset of the box from the last pixel
    std::int64_t channels_per_pixel = 0;             // 1 to 256
    std::int64_t pixels_per_column = 0;              // ignored if the mode is W128
    TensorMapExtents element_strides = {};           // 1 to 8; none means all 1
    std::optional<TensorMapDataType> data_type = {}; // none means the tensor's own
    TensorMapInterleave interleave = TensorMapInterleave::None; // how channels are grouped
    TensorMapIm2ColWideMode mode = TensorMapIm2ColWideMode::W;  // how pixels are counted
    TensorMapSwizzle swizzle = TensorMapSwizzle::Bytes128; // how rows are permuted in shared memory
    TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::None; // how much the L2 cache fetches
    TensorMapOOBFill oob_fill = TensorMapOOBFill::None;             // what lies outside the tensor
};

/// The tensor that a map describes: a view, a buffer with a layout, or an address with extents.
///
/// @code
/// const auto matrix = device.allocate<float>(64 * 64, stream);
/// const auto source = cuprum::TensorMapSource(matrix, {64, 64}).on(device);
/// const auto map = cuprum::TensorMapDescriptor::tiled(source, {.box_dim = {8, 8}});
/// @endcode
class CUPRUM_API TensorMapSource {
public:
    /// Takes a view. The map keeps its memory alive.
    // NOLINTNEXTLINE(google-explicit-constructor): a view stands for its tensor
    TensorMapSource(const StridedMemoryView& view);

    /// Takes a buffer. The map keeps its memory alive.
    /// @throws ClosedError if the buffer is closed.
    /// @throws std::invalid_argument if the layout does not fit the buffer.
    TensorMapSource(const Buffer& buffer, const StridedLayout& layout, TensorMapDataType type);

    /// Takes a typed buffer as an array in C order. The map keeps its memory alive.
    /// @throws ClosedError if the buffer is closed.
    /// @throws std::invalid_argument if the buffer is too small.
    template <typename T>
    TensorMapSource(const TypedBuffer<T>& buffer, std::initializer_list<std::int64_t> shape)
        : TensorMapSource(buffer.buffer(), StridedLayout(shape, sizeof(T)), dlpack::type_of<T>()) {}

    /// Takes a typed view, which owns nothing: keep its memory alive as long as kernels use the
    /// map.
    template <typename T, std::size_t Rank>
    // NOLINTNEXTLINE(google-explicit-constructor): a view stands for its tensor
    TensorMapSource(const TypedView<T, Rank>& view) noexcept
        : TensorMapSource(static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(view.data())),
                          view.shape(), view.strides(), sizeof(T), dlpack::type_of<T>()) {}

    /// Takes an address with extents in elements and strides in bytes, both outermost first. No
    /// strides mean C order. Keep the memory alive as long as kernels use the map.
    [[nodiscard]] static TensorMapSource at(CUdeviceptr address, TensorMapDataType type,
                                            const TensorMapExtents& shape,
                                            const TensorMapExtents& strides_in_bytes = {});

    /// Says which device uses the map. Without it, that is the device of the memory or, for
    /// memory of the host and for addresses, the current one.
    TensorMapSource& on(const Device& device) noexcept {
        device_id_ = device.ordinal();
        return *this;
    }

private:
    friend struct detail::Access;
    friend struct detail::TensorMapEncoder;
    friend class TensorMapDescriptor;

    using Extents = StridedLayout::Extents;

    TensorMapSource(CUdeviceptr address, Extents shape, Extents strides, std::size_t itemsize,
                    dlpack::DataType type) noexcept
        : rank_(shape.size()), address_(address),
          item_bits_(static_cast<std::uint32_t>(itemsize * 8)), type_(type) {
        for (std::size_t axis = 0; axis < std::min(shape.size(), shape_.size()); ++axis) {
            shape_[axis] = shape[axis];
        }
        for (std::size_t axis = 0; axis < std::min(strides.size(), strides_.size()); ++axis) {
            strides_[axis] = strides[axis] * static_cast<std::int64_t>(itemsize);
        }
    }

    TensorMapSource(const Buffer& buffer, const StridedLayout& layout, dlpack::DataType type);

    std::array<std::int64_t, TensorMapExtents::MAXIMUM> shape_{};
    std::array<std::int64_t, TensorMapExtents::MAXIMUM> strides_{}; // in bytes
    std::size_t rank_ = 0; // may exceed what the arrays hold
    CUdeviceptr address_ = 0;
    std::uint32_t item_bits_ = 0;
    int device_id_ = -1;      // -1 if not known
    std::uint64_t bytes_ = 0; // from the address on that belong to the memory; 0 if not known
    dlpack::DataType type_{};
    std::optional<TensorMapDataType> data_type_;
    bool is_device_accessible_ = true;
    std::shared_ptr<void> owner_;
};

/// A tensor map: it describes to the tensor memory accelerator (TMA) where a tensor lies and which
/// box one copy moves. Needs compute capability 9.0.
///
/// It is a value of 128 bytes for the device and what they mean. Pass it to a kernel whose
/// parameter is a `const __grid_constant__ CUtensorMap`. It keeps the memory of its view or buffer
/// alive, and so does a graph with a kernel node that takes it.
///
/// Every factory checks the documented rules before it calls the driver and throws
/// std::invalid_argument with the rule that does not hold.
///
/// @code
/// const auto matrix = device.allocate<float>(64 * 64, stream);
/// const auto map =
///     cuprum::TensorMapDescriptor::tiled(matrix.view(64, 64), {.box_dim = {8, 8}});
/// assert(map.copy_bytes() == 8 * 8 * sizeof(float)); // pass `map` to a kernel by value
/// @endcode
class CUPRUM_API TensorMapDescriptor {
public:
    /// The size of a map.
    static constexpr std::size_t SIZE_BYTES = 128;
    /// The alignment of a map in memory.
    static constexpr std::size_t ALIGNMENT_BYTES = 64;
    /// The largest number of axes.
    static constexpr std::size_t MAXIMUM_RANK = TensorMapExtents::MAXIMUM;

    /// Describes boxes of a tensor.
    [[nodiscard]] static TensorMapDescriptor tiled(TensorMapSource source,
                                                   const TensorMapDescriptorOptions& options);

    /// Describes boxes of a typed view, which owns nothing: keep its memory alive as long as
    /// kernels use the map.
    // NOTE: inline, so that a usual map costs little more than the driver's call.
    template <typename T, std::size_t Rank>
        requires(Rank <= MAXIMUM_RANK)
    [[nodiscard]] static TensorMapDescriptor tiled(const TypedView<T, Rank>& view,
                                                   const TensorMapDescriptorOptions& options) {
        TensorMapDescriptor made(
            static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(view.data())));
        const int status = made.take_usual(view, options) ? made.encode_usual() : NOT_TRIED;
        if (status != 0) [[unlikely]] {
            // Copied one by one: usual calls need no options in memory then.
            made = tiled_after(
                status, view,
                {.box_dim = options.box_dim.each(),
                 .element_strides = options.element_strides.each(),
                 .data_type = options.data_type ? std::optional(*options.data_type) : std::nullopt,
                 .interleave = options.interleave,
                 .swizzle = options.swizzle,
                 .l2_promotion = options.l2_promotion,
                 .oob_fill = options.oob_fill});
        }
        return made;
    }

    /// Describes columns of pixels, for convolutions.
    [[nodiscard]] static TensorMapDescriptor im2col(TensorMapSource source,
                                                    const TensorMapIm2ColOptions& options);
    /// Describes rows of pixels along W. Kernels need compute capability 10.0 for them.
    [[nodiscard]] static TensorMapDescriptor im2col_wide(TensorMapSource source,
                                                         const TensorMapIm2ColWideOptions& options);

    /// Describes other memory from now on, with the same extents and strides.
    ///
    /// Launches that were enqueued before keep the old address. The new memory is kept alive
    /// instead of the old one.
    /// @throws std::invalid_argument if the memory is not aligned, too small, or on another device.
    void replace_address(TensorMapSource source);

    /// Returns the map as the driver has it, for as long as this object lives.
    [[nodiscard]] const CUtensorMap* handle() const noexcept {
        return reinterpret_cast<const CUtensorMap*>(map_.data());
    }

    /// Returns the map as bytes.
    [[nodiscard]] std::span<const std::byte, SIZE_BYTES> bytes() const noexcept { return map_; }

    /// Returns how coordinates select elements.
    [[nodiscard]] TensorMapMode mode() const noexcept { return mode_; }

    /// Returns the number of axes.
    [[nodiscard]] std::size_t rank() const noexcept { return rank_; }

    /// Returns the type of an element.
    [[nodiscard]] TensorMapDataType data_type() const noexcept { return data_type_; }

    /// Returns where the tensor begins.
    [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

    /// Returns the extents in elements, outermost first.
    [[nodiscard]] TensorMapExtents shape() const noexcept;
    /// Returns the strides in bytes, outermost first; that of the innermost axis is one element,
    /// or 0 if an element has less than 8 bits.
    [[nodiscard]] TensorMapExtents strides_in_bytes() const noexcept;
    /// Returns the box of a tiled map, outermost first; empty for the other modes.
    [[nodiscard]] TensorMapExtents box_dim() const noexcept;
    /// Returns which elements are copied, outermost first: every n-th.
    [[nodiscard]] TensorMapExtents element_strides() const noexcept;
    /// Returns the corners of an im2col map, outermost first; empty for tiled maps.
    [[nodiscard]] TensorMapExtents pixel_box_lower_corner() const noexcept;
    /// Returns the far corner of an im2col map, outermost first; empty for tiled maps.
    [[nodiscard]] TensorMapExtents pixel_box_upper_corner() const noexcept;

    /// Returns the channels of one pixel in a copy; 0 for tiled maps.
    [[nodiscard]] std::uint32_t channels_per_pixel() const noexcept { return channels_; }

    /// Returns the pixels in a copy; 0 for tiled maps.
    [[nodiscard]] std::uint32_t pixels_per_column() const noexcept { return pixels_; }

    /// Returns how channels are grouped.
    [[nodiscard]] TensorMapInterleave interleave() const noexcept { return interleave_; }

    /// Returns how rows are permuted in shared memory.
    [[nodiscard]] TensorMapSwizzle swizzle() const noexcept { return swizzle_; }

    /// Returns how much the L2 cache fetches.
    [[nodiscard]] TensorMapL2Promotion l2_promotion() const noexcept { return l2_promotion_; }

    /// Returns what a copy writes for elements outside the tensor.
    [[nodiscard]] TensorMapOOBFill oob_fill() const noexcept { return oob_fill_; }

    /// Returns how a wide im2col map counts pixels.
    [[nodiscard]] TensorMapIm2ColWideMode wide_mode() const noexcept { return wide_mode_; }

    /// Returns how many bytes of shared memory one copy writes: what a kernel tells its barrier to
    /// expect. Elements outside the tensor count, too.
    [[nodiscard]] std::size_t copy_bytes() const noexcept;

    /// Returns the device that the map was made for; nothing for addresses, and for host memory.
    [[nodiscard]] std::optional<Device> device() const;

    /// Returns what keeps the memory alive; null if the map was made from an address.
    [[nodiscard]] const std::shared_ptr<void>& owner() const noexcept { return owner_; }

    /// Returns the text with all that the map describes.
    [[nodiscard]] std::string description() const;

    /// Compares the bytes of the maps.
    friend bool operator==(const TensorMapDescriptor& left,
                           const TensorMapDescriptor& right) noexcept {
        return left.map_ == right.map_;
    }

private:
    friend struct detail::TensorMapEncoder;

    // NOLINTNEXTLINE(*-member-init): clearing what is set later would take longer than the rest
    TensorMapDescriptor(TensorMapSource& source, TensorMapMode mode) noexcept
        : address_(source.address_), owner_(std::move(source.owner_)),
          device_id_(source.device_id_), mode_(mode) {}

    // NOLINTNEXTLINE(*-member-init): as above
    explicit TensorMapDescriptor(CUdeviceptr address) noexcept
        : address_(address), mode_(TensorMapMode::Tiled) {}

    /// Takes over what describes boxes of a view, unless that needs a closer look first. Returns
    /// whether it did. TensorMapEncoder::try_usual in tensor_map.cpp does the same for any tensor.
    template <typename T, std::size_t Rank>
    [[nodiscard]] bool take_usual(const TypedView<T, Rank>& view,
                                  const TensorMapDescriptorOptions& options) noexcept {
        const auto type =
            options.data_type ? options.data_type : detail::tensor_map_type<std::remove_cv_t<T>>();
        if (!type || *type > TensorMapDataType::TFloat32FTZ ||
            detail::element_bits(*type) != sizeof(T) * 8 || options.box_dim.size() != Rank ||
            !options.element_strides.is_empty() ||
            options.interleave != TensorMapInterleave::None || address_ == 0 ||
            view.strides()[Rank - 1] != 1) [[unlikely]] {
            return false;
        }
        std::uint64_t are_usual = 0; // no bit is set if all are
        const auto take_axis = [&]<std::size_t Index>(std::integral_constant<std::size_t, Index>) {
            constexpr std::size_t AXIS = Rank - 1 - Index;
            const auto extent = static_cast<std::uint64_t>(options.box_dim[AXIS]);
            dims_[Index] = static_cast<std::uint64_t>(view.shape()[AXIS]);
            box_[Index] = static_cast<std::uint32_t>(extent);
            element_strides_[Index] = 1;
            are_usual |= extent >> 16U;
            if constexpr (Index > 0) {
                strides_[Index - 1] = static_cast<std::uint64_t>(view.strides()[AXIS]) * sizeof(T);
                are_usual |= strides_[Index - 1] % STRIDE_UNIT;
            }
        };
        [&]<std::size_t... Index>(std::index_sequence<Index...>) {
            (take_axis(std::integral_constant<std::size_t, Index>()), ...);
        }(std::make_index_sequence<Rank>());
        rank_ = Rank;
        data_type_ = *type;
        swizzle_ = options.swizzle;
        l2_promotion_ = options.l2_promotion;
        oob_fill_ = options.oob_fill;
        return are_usual == 0;
    }

    static constexpr std::uint64_t STRIDE_UNIT = 16; // bytes
    static constexpr int NOT_TRIED = -1;

    /// Calls the driver with what take_usual() took. Returns its answer, or NOT_TRIED.
    [[nodiscard]] int encode_usual();
    /// Describes boxes of a tensor after the driver refused them, or was not asked.
    [[nodiscard, gnu::cold]] static TensorMapDescriptor
    tiled_after(int status, TensorMapSource source, const TensorMapDescriptorOptions& options);

    [[nodiscard]] std::size_t corner_count() const noexcept;
    [[nodiscard]] std::uint64_t reach_bytes() const noexcept;

    // NOTE: the driver fills the map before anyone reads it.
    alignas(ALIGNMENT_BYTES) std::array<std::byte, SIZE_BYTES> map_;

    // As the driver has them: innermost first. Only what rank and mode use is set.
    std::array<std::uint64_t, MAXIMUM_RANK> dims_;
    std::array<std::uint64_t, MAXIMUM_RANK - 1> strides_;
    std::array<std::uint32_t, MAXIMUM_RANK> box_;
    std::array<std::uint32_t, MAXIMUM_RANK> element_strides_;
    std::array<std::int32_t, MAXIMUM_RANK - 2> lower_corner_;
    std::array<std::int32_t, MAXIMUM_RANK - 2> upper_corner_;
    std::uint32_t channels_ = 0;
    std::uint32_t pixels_ = 0;

    CUdeviceptr address_ = 0;
    std::shared_ptr<void> owner_;
    int device_id_ = -1;
    std::uint8_t rank_ = 0;
    TensorMapMode mode_;
    TensorMapDataType data_type_ = TensorMapDataType::UInt8;
    TensorMapInterleave interleave_ = TensorMapInterleave::None;
    TensorMapSwizzle swizzle_ = TensorMapSwizzle::None;
    TensorMapL2Promotion l2_promotion_ = TensorMapL2Promotion::None;
    TensorMapOOBFill oob_fill_ = TensorMapOOBFill::None;
    TensorMapIm2ColWideMode wide_mode_ = TensorMapIm2ColWideMode::W;
};

/// Return the names that the driver's constants end in, such as "FLOAT32" or "128B_ATOM_32B".
[[nodiscard]] CUPRUM_API std::string_view to_string(TensorMapDataType type) noexcept;
/// Returns the name of an interleaving.
[[nodiscard]] CUPRUM_API std::string_view to_string(TensorMapInterleave interleave) noexcept;
/// Returns the name of a permutation.
[[nodiscard]] CUPRUM_API std::string_view to_string(TensorMapSwizzle swizzle) noexcept;
/// Returns the name of a promotion.
[[nodiscard]] CUPRUM_API std::string_view to_string(TensorMapL2Promotion promotion) noexcept;
/// Returns the name of a fill.
[[nodiscard]] CUPRUM_API std::string_view to_string(TensorMapOOBFill fill) noexcept;
/// Returns the name of a way to count pixels.
[[nodiscard]] CUPRUM_API std::string_view to_string(TensorMapIm2ColWideMode mode) noexcept;
/// Returns the name of a mode.
[[nodiscard]] CUPRUM_API std::string_view to_string(TensorMapMode mode) noexcept;

/// Returns mode, rank, type and swizzle; see also TensorMapDescriptor::description.
[[nodiscard]] CUPRUM_API std::string to_string(const TensorMapDescriptor& map);

namespace detail {

template <typename T>
struct StoredArgument;

/// The 128 bytes that a kernel takes for a tensor map.
struct alignas(TensorMapDescriptor::ALIGNMENT_BYTES) TensorMapBytes {
    std::array<std::byte, TensorMapDescriptor::SIZE_BYTES> bytes;
};

/// A tensor map passes to a kernel by value.
template <>
struct StoredArgument<TensorMapDescriptor> {
    TensorMapBytes value;

    // NOLINTNEXTLINE(google-explicit-constructor)
    StoredArgument(const TensorMapDescriptor& map) noexcept {
        std::copy(map.bytes().begin(), map.bytes().end(), value.bytes.begin());
    }
};

template <>
inline constexpr ArgumentType ARGUMENT_TYPE<TensorMapDescriptor> = ARGUMENT_TYPE<TensorMapBytes>;

} // namespace detail

} // namespace cuprum
