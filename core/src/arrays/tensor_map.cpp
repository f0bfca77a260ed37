// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The rules come from the comments in cuda.h. Drivers check most of them, but return the same code
// for all. So a usual map goes to the driver first, and the checks explain a refusal. For other
// maps, the checks come first. What depends on the device is looked at only after a refusal.

#include <cuprum/tensor_map.hpp>

#include "arrays/tensor_map_rules.hpp"
#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "driver/current.hpp"
#include "memory/buffer_state.hpp"
#include "support/text.hpp"

#include <limits>
#include <type_traits>
#include <utility>

namespace cuprum {

namespace {

using detail::refuse_map;

constexpr std::int64_t MAXIMUM_DIMENSION = std::int64_t{1} << 32;
constexpr std::int64_t STRIDE_LIMIT = std::int64_t{1} << 40;
constexpr std::int64_t MAXIMUM_BOX = 256;
constexpr std::int64_t MAXIMUM_PIXELS = 1024;
constexpr std::int64_t MAXIMUM_ELEMENT_STRIDE = 8;
constexpr std::int64_t PACKED_BOX = 128;
constexpr std::size_t LEAST_IM2COL_RANK = 3;

template <typename Enum>
void check_known(const char* name, Enum value, Enum last) {
    if (value > last) [[unlikely]] {
        refuse_map(name, " is the number ", static_cast<unsigned>(value),
                   ", which is no value of its enumeration");
    }
}

/// Returns the alignment of the address and of strides.
[[nodiscard]] std::uint32_t alignment_of(TensorMapDataType type, TensorMapInterleave interleave) {
    return interleave == TensorMapInterleave::Bytes32 || detail::has_gaps(type)
               ? 2 * detail::TENSOR_UNIT_BYTES
               : detail::TENSOR_UNIT_BYTES;
}

void check_address(CUdeviceptr address, std::uint32_t alignment) {
    if (address == 0) [[unlikely]] {
        refuse_map("the tensor has no memory: its address is 0");
    }
    if (address % alignment != 0) [[unlikely]] {
        refuse_map("the tensor begins at ", detail::hexadecimal(address),
                   ", expected a multiple of ", alignment,
                   " bytes: a tensor map needs that alignment");
    }
}

std::optional<TensorMapDataType> find_data_type(dlpack::DataType type) noexcept {
    using dlpack::TypeCode;
    if (type.lanes != 1) {
        return {};
    }
    switch (type.code) {
    case TypeCode::UInt:
        switch (type.bits) {
        case 8:
            return TensorMapDataType::UInt8;
        case 16:
            return TensorMapDataType::UInt16;
        case 32:
            return TensorMapDataType::UInt32;
        case 64:
            return TensorMapDataType::UInt64;
        default:
            return {};
        }
    case TypeCode::Int:
        switch (type.bits) {
        case 32:
            return TensorMapDataType::Int32;
        case 64:
            return TensorMapDataType::Int64;
        default:
            return {};
        }
    case TypeCode::Float:
        switch (type.bits) {
        case 16:
            return TensorMapDataType::Float16;
        case 32:
            return TensorMapDataType::Float32;
        case 64:
            return TensorMapDataType::Float64;
        default:
            return {};
        }
    case TypeCode::BFloat:
        if (type.bits == 16) {
            return TensorMapDataType::BFloat16;
        }
        return {};
    default:
        return {};
    }
}

std::string element_text(dlpack::DataType type) {
    const auto name = [&]() -> std::string {
        switch (type.code) {
        case dlpack::TypeCode::Int:
            return "int";
        case dlpack::TypeCode::UInt:
            return "uint";
        case dlpack::TypeCode::Float:
            return "float";
        case dlpack::TypeCode::BFloat:
            return "bfloat";
        case dlpack::TypeCode::Complex:
            return "complex";
        case dlpack::TypeCode::Bool:
            return "bool";
        default:
            return "DLPack type " + std::to_string(static_cast<int>(type.code)) + " of bits ";
        }
    };
    return type.bits == 0 ? "no known type" : name() + std::to_string(type.bits);
}

void check_rank(std::size_t rank, TensorMapMode mode, TensorMapInterleave interleave) {
    const bool is_tiled = mode == TensorMapMode::Tiled;
    if (rank < (is_tiled ? 1 : LEAST_IM2COL_RANK) || rank > TensorMapDescriptor::MAXIMUM_RANK)
        [[unlikely]] {
        if (is_tiled) {
            refuse_map("the tensor has ", rank, " axes; its rank must be between 1 and 5");
        }
        refuse_map(mode == TensorMapMode::Im2Col ? "Im2col" : "Im2col-wide",
                   " tensor rank must be between 3 and 5; the tensor has ", rank,
                   " axes, expected NWC, NHWC or NDHWC");
    }
    if (interleave != TensorMapInterleave::None && rank < LEAST_IM2COL_RANK) [[unlikely]] {
        refuse_map("interleave is ", to_string(interleave),
                   ", which needs a tensor of 3 to 5 axes; "
                   "this one has ",
                   rank);
    }
}

void check_count(const char* name, std::size_t count, std::size_t expected, const char* why) {
    if (count != expected) [[unlikely]] {
        // NOTE: always "elements": programs and tests for cuda.core look for it.
        refuse_map(name, " must have ", expected, " elements, ", why, "; it has ", count);
    }
}

void check_number(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value < least || value > most) [[unlikely]] {
        refuse_map(name, " is ", value, ", expected ", least, " to ", most);
    }
}

void check_swizzle(TensorMapDataType type, TensorMapInterleave interleave, TensorMapSwizzle swizzle,
                   TensorMapMode mode) {
    if (interleave == TensorMapInterleave::Bytes32 && swizzle != TensorMapSwizzle::Bytes32)
        [[unlikely]] {
        refuse_map("interleave 32B needs swizzle 32B, got ", to_string(swizzle));
    }
    if (mode == TensorMapMode::Im2ColWide && swizzle != TensorMapSwizzle::Bytes64 &&
        swizzle != TensorMapSwizzle::Bytes128 && swizzle != TensorMapSwizzle::Bytes128Atom32)
        [[unlikely]] {
        refuse_map("a wide im2col map needs swizzle 64B, 128B or 128B_ATOM_32B, got ",
                   to_string(swizzle));
    }
    if (!detail::has_gaps(type)) [[likely]] {
        return;
    }
    const bool is_six_bits = type == TensorMapDataType::Packed16U6Align16B;
    if (is_six_bits && interleave != TensorMapInterleave::None) {
        refuse_map("elements of type ", to_string(type), " cannot be interleaved");
    }
    if (swizzle != TensorMapSwizzle::None && swizzle != TensorMapSwizzle::Bytes128 &&
        swizzle != TensorMapSwizzle::Bytes128Atom32 &&
        !(is_six_bits && swizzle == TensorMapSwizzle::Bytes128Atom64)) {
        refuse_map("elements of type ", to_string(type),
                   " allow the swizzles NONE, 128B, "
                   "128B_ATOM_32B",
                   is_six_bits ? " and 128B_ATOM_64B" : "", ", got ", to_string(swizzle));
    }
}

void check_inner_box(const char* name, std::uint32_t elements, TensorMapDataType type,
                     TensorMapInterleave interleave, TensorMapSwizzle swizzle) {
    if (detail::has_gaps(type)) [[unlikely]] {
        if (elements != PACKED_BOX) {
            refuse_map(name, " is ", elements, ", expected ", PACKED_BOX, " for elements of type ",
                       to_string(type));
        }
        return;
    }
    const std::uint32_t bits = elements * detail::element_bits(type);
    if (bits % (detail::TENSOR_UNIT_BYTES * detail::BITS_OF_A_BYTE) != 0) [[unlikely]] {
        refuse_map(name, " is ", elements, " elements of type ", to_string(type), ", ",
                   bits / detail::BITS_OF_A_BYTE, " bytes, expected a multiple of 16 bytes");
    }
    const std::uint32_t most = detail::swizzle_bytes(swizzle);
    if (most != 0 && interleave == TensorMapInterleave::None &&
        bits / detail::BITS_OF_A_BYTE > most) [[unlikely]] {
        refuse_map(name, " is ", elements, " elements of type ", to_string(type), ", ",
                   bits / detail::BITS_OF_A_BYTE, " bytes, expected at most ", most,
                   " bytes for swizzle ", to_string(swizzle));
    }
}

} // namespace

TensorMapSource::TensorMapSource(const StridedMemoryView& view)
    : TensorMapSource(view.handle(), view.layout().shape(), view.layout().strides(),
                      view.layout().itemsize(), view.type()) {
    is_device_accessible_ = view.is_device_accessible();
    if (view.device().type == dlpack::DeviceType::Cuda) {
        device_id_ = view.device().id;
    }
    bytes_ = view.base_ + static_cast<CUdeviceptr>(view.end_byte_) - address_;
    owner_ = view.kept_;
}

TensorMapSource::TensorMapSource(const Buffer& buffer, const StridedLayout& layout,
                                 dlpack::DataType type)
    : TensorMapSource(buffer.handle() + static_cast<CUdeviceptr>(layout.slice_offset_in_bytes()),
                      layout.shape(), layout.strides(), layout.itemsize(), type) {
    if (const std::size_t needed = layout.required_size_in_bytes(); needed > buffer.size()) {
        refuse_map("the buffer has ", buffer.size(), " bytes, expected at least ", needed, " for ",
                   layout.to_string());
    }
    is_device_accessible_ = buffer.is_device_accessible();
    if (is_device_accessible_ && !buffer.is_host_accessible()) {
        device_id_ = buffer.device_id();
    }
    bytes_ = buffer.handle() + buffer.size() - address_;
    owner_ = detail::Access::state(buffer);
}

TensorMapSource::TensorMapSource(const Buffer& buffer, const StridedLayout& layout,
                                 TensorMapDataType type)
    : TensorMapSource(buffer, layout, dlpack::DataType{}) {
    check_known("type", type, TensorMapDataType::Packed16U6Align16B);
    data_type_ = type;
}

TensorMapSource TensorMapSource::at(CUdeviceptr address, TensorMapDataType type,
                                    const TensorMapExtents& shape,
                                    const TensorMapExtents& strides_in_bytes) {
    check_known("type", type, TensorMapDataType::Packed16U6Align16B);
    TensorMapSource source(address, {}, {}, 0, {});
    const bool has_strides = !strides_in_bytes.is_empty();
    if (has_strides) {
        check_count("strides_in_bytes", strides_in_bytes.size(), shape.size(), "one for each axis");
    }
    source.rank_ = shape.size();
    source.item_bits_ = detail::element_bits(type);
    source.data_type_ = type;
    std::int64_t bits = source.item_bits_;
    for (std::size_t axis = std::min(shape.size(), TensorMapExtents::MAXIMUM); axis-- > 0;) {
        source.shape_[axis] = shape[axis];
        source.strides_[axis] = has_strides
                                    ? strides_in_bytes[axis]
                                    : bits / static_cast<std::int64_t>(detail::BITS_OF_A_BYTE);
        if (!has_strides && shape[axis] > 0 && __builtin_mul_overflow(bits, shape[axis], &bits)) {
            refuse_map("the tensor is too large: its bytes do not fit into 64 bits");
        }
    }
    return source;
}

/// Fills a map, step by step, and calls the driver. It is hidden, so that a call is inlined.
struct detail::TensorMapEncoder {
    TensorMapDescriptor& map;

    /// Encodes a map as nearly all are: its type has the size of the tensor's elements, and nothing
    /// is interleaved or left out. The driver checks the rest. Returns false, with nothing done,
    /// for other maps. If the driver refuses the map, the checks find the reason.
    [[nodiscard]] bool try_usual(const TensorMapSource& source,
                                 const TensorMapDescriptorOptions& options) {
        const std::size_t rank = source.rank_;
        const auto type = options.data_type   ? options.data_type
                          : source.data_type_ ? source.data_type_
                                              : find_data_type(source.type_);
        if (!type || *type > TensorMapDataType::TFloat32FTZ || rank - 1 >= MAXIMUM_RANK ||
            rank != options.box_dim.size() || !options.element_strides.is_empty() ||
            options.interleave != TensorMapInterleave::None || !source.is_device_accessible_ ||
            map.address_ == 0 || element_bits(*type) != source.item_bits_ ||
            source.strides_[rank - 1] != source.item_bits_ / BITS_OF_A_BYTE || !has_one_device())
            [[unlikely]] {
            return false;
        }
        std::uint64_t are_usual = 0; // no bit is set if all are
        for (std::size_t index = 0; index < rank; ++index) {
            const std::size_t axis = rank - 1 - index;
            const auto extent = static_cast<std::uint64_t>(options.box_dim[axis]);
            map.dims_[index] = static_cast<std::uint64_t>(source.shape_[axis]);
            map.box_[index] = static_cast<std::uint32_t>(extent);
            map.element_strides_[index] = 1;
            are_usual |= extent >> 16U;
            if (index > 0) {
                map.strides_[index - 1] = static_cast<std::uint64_t>(source.strides_[axis]);
                are_usual |= map.strides_[index - 1] % TENSOR_UNIT_BYTES;
            }
        }
        if (are_usual != 0) [[unlikely]] {
            return false;
        }
        map.rank_ = static_cast<std::uint8_t>(rank);
        map.data_type_ = *type;
        map.swizzle_ = options.swizzle;
        map.l2_promotion_ = options.l2_promotion;
        map.oob_fill_ = options.oob_fill;
        const CUresult status = call_usual();
        if (status == CUDA_SUCCESS) [[likely]] {
            return true;
        }
        explain_usual(status, source, options);
        return false;
    }

    /// Calls the driver for a tiled map that is not interleaved.
    [[nodiscard, gnu::always_inline]] CUresult call_usual() {
        return driver::table().cuTensorMapEncodeTiled(
            reinterpret_cast<CUtensorMap*>(map.map_.data()),
            static_cast<CUtensorMapDataType>(map.data_type_), cuuint32_t{map.rank_},
            reinterpret_cast<void*>(map.address_),
            reinterpret_cast<const cuuint64_t*>(map.dims_.data()),
            reinterpret_cast<const cuuint64_t*>(map.strides_.data()), map.box_.data(),
            map.element_strides_.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
            static_cast<CUtensorMapSwizzle>(map.swizzle_),
            static_cast<CUtensorMapL2promotion>(map.l2_promotion_),
            static_cast<CUtensorMapFloatOOBfill>(map.oob_fill_));
    }

    /// Throws what is wrong with a map that the driver refused. Returns if only a context is
    /// missing.
    [[gnu::cold]] void explain_usual(CUresult status, const TensorMapSource& source,
                                     const TensorMapDescriptorOptions& options) {
        if (status != CUDA_ERROR_INVALID_CONTEXT && status != CUDA_ERROR_CONTEXT_IS_DESTROYED) {
            describe(source, options);
            set_box(options);
            refuse(status, driver::table().cuTensorMapEncodeTiled.name);
        }
    }

    static constexpr std::size_t MAXIMUM_RANK = TensorMapDescriptor::MAXIMUM_RANK;

    /// Checks and takes over what all modes share.
    template <typename Options>
    void describe(const TensorMapSource& source, const Options& options) {
        check_known("interleave", options.interleave, TensorMapInterleave::Bytes32);
        check_known("swizzle", options.swizzle, TensorMapSwizzle::Bytes128Atom64);
        check_known("l2_promotion", options.l2_promotion, TensorMapL2Promotion::Bytes256);
        check_known("oob_fill", options.oob_fill, TensorMapOOBFill::NaNRequestZeroFMA);
        map.interleave_ = options.interleave;
        map.swizzle_ = options.swizzle;
        map.l2_promotion_ = options.l2_promotion;
        map.oob_fill_ = options.oob_fill;
        set_type(source, options.data_type);
        set_extents(source);
        set_element_strides(options.element_strides);
        check_swizzle(map.data_type_, map.interleave_, map.swizzle_, map.mode_);
        if (map.oob_fill_ != TensorMapOOBFill::None && !detail::is_floating(map.data_type_))
            [[unlikely]] {
            refuse_map(
                "oob_fill is NAN_REQUEST_ZERO_FMA, which needs floating-point elements; these "
                "are ",
                to_string(map.data_type_));
        }
    }

    void set_type(const TensorMapSource& source, const std::optional<TensorMapDataType>& wanted) {
        if (!source.is_device_accessible_) [[unlikely]] {
            refuse_map(
                "the tensor is not device-accessible; a tensor map needs memory of a device, "
                "pinned or managed memory");
        }
        const auto type = wanted              ? wanted
                          : source.data_type_ ? source.data_type_
                                              : find_data_type(source.type_);
        if (!type) [[unlikely]] {
            refuse_map(
                "the tensor has elements of ", element_text(source.type_),
                ", which tensor maps do not have; set data_type to a type of the same size, such "
                "as UINT8 for bytes");
        }
        check_known("data_type", *type, TensorMapDataType::Packed16U6Align16B);
        map.data_type_ = *type;
    }

    /// Takes over address, shape and strides, innermost first. If data_type has another size than
    /// the view's elements, the innermost axis is seen as elements of that size.
    void set_extents(const TensorMapSource& source) {
        const std::size_t rank = source.rank_;
        check_rank(rank, map.mode_, map.interleave_);
        map.rank_ = static_cast<std::uint8_t>(rank);
        const std::uint32_t alignment = alignment_of(map.data_type_, map.interleave_);
        check_address(map.address_, alignment);
        const std::uint32_t bits = detail::element_bits(map.data_type_);
        for (std::size_t index = 0; index < rank; ++index) {
            const std::size_t axis = rank - 1 - index;
            std::int64_t extent = source.shape_[axis];
            const std::int64_t stride = source.strides_[axis];
            if (index == 0) {
                if (extent > 1 && stride != source.item_bits_ / detail::BITS_OF_A_BYTE &&
                    source.item_bits_ % detail::BITS_OF_A_BYTE == 0) [[unlikely]] {
                    refuse_map(
                        "axis ", axis, " is the innermost and has a stride of ", stride,
                        " bytes, expected ", source.item_bits_ / detail::BITS_OF_A_BYTE,
                        ": its elements must be contiguous; permute the axes or copy the tensor");
                }
                if (source.item_bits_ != bits) [[unlikely]] {
                    extent = converted_extent(extent, source.item_bits_, bits);
                }
            } else {
                map.strides_[index - 1] =
                    checked_stride(axis, source.shape_[axis], stride, alignment);
            }
            if (extent < 1 || extent > MAXIMUM_DIMENSION) [[unlikely]] {
                refuse_map("shape[", axis, "] is ", extent, ", expected 1 to 2^32 elements");
            }
            map.dims_[index] = static_cast<std::uint64_t>(extent);
        }
        if (detail::is_packed(map.data_type_)) [[unlikely]] {
            const std::uint32_t multiple = detail::has_gaps(map.data_type_) ? PACKED_BOX : 2;
            if (map.dims_[0] % multiple != 0) {
                refuse_map("the innermost axis has ", map.dims_[0],
                           " elements, expected a multiple of ", multiple, " for elements of type ",
                           to_string(map.data_type_));
            }
        }
    }

    std::int64_t converted_extent(std::int64_t extent, std::uint32_t item_bits,
                                  std::uint32_t bits) const {
        std::int64_t total = 0;
        if (__builtin_mul_overflow(extent, std::int64_t{item_bits}, &total) || total % bits != 0) {
            refuse_map("the innermost axis has ", extent, " elements of ", item_bits,
                       " bits, which are no whole elements of type ", to_string(map.data_type_));
        }
        return total / bits;
    }

    std::uint64_t checked_stride(std::size_t axis, std::int64_t extent, std::int64_t stride,
                                 std::uint32_t alignment) const {
        if (stride >= 0 && stride < STRIDE_LIMIT && stride % alignment == 0) [[likely]] {
            return static_cast<std::uint64_t>(stride);
        }
        if (extent == 1) {
            return 2 * detail::TENSOR_UNIT_BYTES; // nothing is ever that far away
        }
        refuse_map("axis ", axis, " has a stride of ", stride, " bytes, expected a multiple of ",
                   alignment, " from 0 to 2^40 - 1",
                   map.interleave_ == TensorMapInterleave::Bytes32
                       ? " for interleave 32B"
                       : "; pad the rows of the tensor, or choose another box");
    }

    void set_element_strides(const TensorMapExtents& strides) {
        if (strides.is_empty()) {
            map.element_strides_.fill(1);
            return;
        }
        check_count("element_strides", strides.size(), map.rank_, "as many as the tensor has axes");
        for (std::size_t axis = 0; axis < map.rank_; ++axis) {
            if (strides[axis] < 1 || strides[axis] > MAXIMUM_ELEMENT_STRIDE) [[unlikely]] {
                refuse_map("element_strides[", axis, "] must be in [1, ", MAXIMUM_ELEMENT_STRIDE,
                           "]; it is ", strides[axis]);
            }
            map.element_strides_[map.rank_ - 1U - axis] = static_cast<std::uint32_t>(strides[axis]);
        }
    }

    void set_box(const TensorMapDescriptorOptions& options) {
        check_count("box_dim", options.box_dim.size(), map.rank_, "as many as the tensor has axes");
        for (std::size_t axis = 0; axis < map.rank_; ++axis) {
            const std::int64_t extent = options.box_dim[axis];
            if (extent < 1 || extent > MAXIMUM_BOX) [[unlikely]] {
                refuse_map("box_dim[", axis, "] must be in [1, ", MAXIMUM_BOX, "]; it is ", extent);
            }
            map.box_[map.rank_ - 1U - axis] = static_cast<std::uint32_t>(extent);
        }
        check_inner_box("the innermost extent of box_dim", map.box_[0], map.data_type_,
                        map.interleave_, map.swizzle_);
    }

    /// Encodes boxes after all checks.
    void encode_tiled(const TensorMapSource& source, const TensorMapDescriptorOptions& options) {
        describe(source, options);
        set_box(options);
        encode(driver::table().cuTensorMapEncodeTiled, map.box_.data(),
               map.element_strides_.data());
    }

    /// Checks that a pixel box has a size along W, H or D (index 0, 1 or 2).
    void check_pixel_box(std::size_t index) const {
        // The channels are innermost, unless they are interleaved.
        const std::size_t dimension =
            index + (map.interleave_ == TensorMapInterleave::None ? 1 : 0);
        const auto extent = static_cast<std::int64_t>(map.dims_[dimension]);
        const std::int64_t size = extent + map.upper_corner_[index] - map.lower_corner_[index];
        if (size < 1 || size > std::numeric_limits<std::int32_t>::max()) [[unlikely]] {
            refuse_map("the pixel box has ", size, " elements on axis ", map.rank_ - 1 - dimension,
                       ": ", extent, " of the tensor, from corner ", map.lower_corner_[index],
                       " to corner ", map.upper_corner_[index],
                       "; expected 1 or more, and less than 2^31");
        }
    }

    void set_pixels(std::int64_t channels, std::int64_t pixels) {
        check_number("channels_per_pixel", channels, 1, MAXIMUM_BOX);
        map.channels_ = static_cast<std::uint32_t>(channels);
        check_inner_box("channels_per_pixel", map.channels_, map.data_type_, map.interleave_,
                        map.swizzle_);
        if (map.mode_ == TensorMapMode::Im2ColWide &&
            map.wide_mode_ == TensorMapIm2ColWideMode::W128) {
            map.pixels_ = 128;
            return;
        }
        check_number("pixels_per_column", pixels, 1, MAXIMUM_PIXELS);
        map.pixels_ = static_cast<std::uint32_t>(pixels);
    }

    /// Calls one of the driver's encoders with what all of them take, and `arguments` in between.
    template <typename Entry, typename... Arguments>
    void encode(const Entry& entry, Arguments... arguments) {
        const auto call = [&](auto... last) {
            call_encoder(entry, reinterpret_cast<CUtensorMap*>(map.map_.data()),
                         static_cast<CUtensorMapDataType>(map.data_type_), cuuint32_t{map.rank_},
                         reinterpret_cast<void*>(map.address_),
                         reinterpret_cast<const cuuint64_t*>(map.dims_.data()),
                         reinterpret_cast<const cuuint64_t*>(map.strides_.data()), arguments...,
                         static_cast<CUtensorMapInterleave>(map.interleave_), last...,
                         static_cast<CUtensorMapSwizzle>(map.swizzle_),
                         static_cast<CUtensorMapL2promotion>(map.l2_promotion_),
                         static_cast<CUtensorMapFloatOOBfill>(map.oob_fill_));
        };
        if constexpr (std::is_same_v<
                          Entry,
                          std::decay_t<decltype(driver::table().cuTensorMapEncodeIm2colWide)>>) {
            call(static_cast<CUtensorMapIm2ColWideMode>(map.wide_mode_));
        } else {
            call();
        }
    }

    /// Calls the driver. Any context will do if there is one device; if there are several, which
    /// may differ, it must be one of the map's device.
    template <typename Entry, typename... Arguments>
    void call_encoder(const Entry& entry, Arguments... arguments) const {
        if (detail::has_one_device()) [[likely]] {
            const CUresult status = entry(arguments...);
            if (status == CUDA_SUCCESS) [[likely]] {
                return;
            }
            if (status != CUDA_ERROR_INVALID_CONTEXT && status != CUDA_ERROR_CONTEXT_IS_DESTROYED) {
                refuse(status, entry.name);
            }
        }
        const Device used = map.device_id_ >= 0 ? Device(map.device_id_) : Device();
        const driver::Current current(
            detail::context_for(detail::device_state(used.handle()))->handle);
        if (const CUresult status = entry(arguments...); status != CUDA_SUCCESS) {
            refuse(status, entry.name);
        }
    }

    /// Explains why the driver refused a map that keeps the rules of every device.
    void refuse(int status, const char* call) const {
        const Device used = map.device_id_ >= 0 ? Device(map.device_id_) : Device();
        const ComputeCapability capability = used.compute_capability();
        const auto needs = [&](const std::string& what, const char* least) {
            refuse_map(what, " needs compute capability ", least, "; device ", used.ordinal(),
                       " has ", to_string(capability));
        };
        if (capability.major < 9) {
            needs("a tensor map", "9.0");
        }
        if (capability.major < 10) {
            if (detail::is_packed(map.data_type_)) {
                needs("the data type " + std::string(to_string(map.data_type_)), "10.0");
            }
            if (detail::is_newer(map.swizzle_)) {
                needs("the swizzle " + std::string(to_string(map.swizzle_)), "10.0");
            }
        }
        const auto most =
            static_cast<std::size_t>(used.properties().max_shared_memory_per_multiprocessor());
        if (map.copy_bytes() > most) {
            refuse_map("one copy has ", map.copy_bytes(), " bytes, expected at most ", most,
                       ", the shared memory of a multiprocessor; choose a smaller box");
        }
        driver::raise(static_cast<CUresult>(status), call);
    }
};

TensorMapDescriptor TensorMapDescriptor::tiled(TensorMapSource source,
                                               const TensorMapDescriptorOptions& options) {
    TensorMapDescriptor made(source, TensorMapMode::Tiled);
    detail::TensorMapEncoder encoder{made};
    if (!encoder.try_usual(source, options)) [[unlikely]] {
        encoder.encode_tiled(source, options);
    }
    return made;
}

int TensorMapDescriptor::encode_usual() {
    return detail::has_one_device() ? detail::TensorMapEncoder{*this}.call_usual() : NOT_TRIED;
}

TensorMapDescriptor TensorMapDescriptor::tiled_after(int status, TensorMapSource source,
                                                     const TensorMapDescriptorOptions& options) {
    TensorMapDescriptor made(source, TensorMapMode::Tiled);
    detail::TensorMapEncoder encoder{made};
    if (status != NOT_TRIED) {
        encoder.explain_usual(static_cast<CUresult>(status), source, options);
    }
    encoder.encode_tiled(source, options);
    return made;
}

TensorMapDescriptor TensorMapDescriptor::im2col(TensorMapSource source,
                                                const TensorMapIm2ColOptions& options) {
    TensorMapDescriptor made(source, TensorMapMode::Im2Col);
    detail::TensorMapEncoder encoder{made};
    encoder.describe(source, options);
    const std::size_t corners = made.rank_ - 2U;
    constexpr const char* WHY = "one for each axis between the first and the last";
    check_count("pixel_box_lower_corner", options.pixel_box_lower_corner.size(), corners, WHY);
    check_count("pixel_box_upper_corner", options.pixel_box_upper_corner.size(), corners, WHY);
    constexpr std::array BITS{16U, 8U, 5U}; // of ranks 3, 4 and 5
    const std::int64_t limit = std::int64_t{1} << (BITS[made.rank_ - LEAST_IM2COL_RANK] - 1);
    for (std::size_t axis = 0; axis < corners; ++axis) {
        const std::size_t index = corners - 1 - axis;
        const std::int64_t lower = options.pixel_box_lower_corner[axis];
        const std::int64_t upper = options.pixel_box_upper_corner[axis];
        check_number("a corner of the pixel box", lower, -limit, limit - 1);
        check_number("a corner of the pixel box", upper, -limit, limit - 1);
        made.lower_corner_[index] = static_cast<std::int32_t>(lower);
        made.upper_corner_[index] = static_cast<std::int32_t>(upper);
        encoder.check_pixel_box(index);
    }
    encoder.set_pixels(options.channels_per_pixel, options.pixels_per_column);
    encoder.encode(driver::table().cuTensorMapEncodeIm2col, made.lower_corner_.data(),
                   made.upper_corner_.data(), made.channels_, made.pixels_,
                   made.element_strides_.data());
    return made;
}

TensorMapDescriptor TensorMapDescriptor::im2col_wide(TensorMapSource source,
                                                     const TensorMapIm2ColWideOptions& options) {
    TensorMapDescriptor made(source, TensorMapMode::Im2ColWide);
    detail::TensorMapEncoder encoder{made};
    check_known("mode", options.mode, TensorMapIm2ColWideMode::W128);
    made.wide_mode_ = options.mode;
    encoder.describe(source, options);
    constexpr std::int64_t LIMIT = std::int64_t{1} << 15;
    const std::int64_t lower = options.pixel_box_lower_corner_width;
    const std::int64_t upper = options.pixel_box_upper_corner_width;
    check_number("pixel_box_lower_corner_width", lower, -LIMIT, LIMIT - 1);
    check_number("pixel_box_upper_corner_width", upper, -LIMIT, LIMIT - 1);
    made.lower_corner_[0] = static_cast<std::int32_t>(lower);
    made.upper_corner_[0] = static_cast<std::int32_t>(upper);
    encoder.check_pixel_box(0);
    encoder.set_pixels(options.channels_per_pixel, options.pixels_per_column);
    encoder.encode(driver::table().cuTensorMapEncodeIm2colWide, made.lower_corner_[0],
                   made.upper_corner_[0], made.channels_, made.pixels_,
                   made.element_strides_.data());
    return made;
}

void TensorMapDescriptor::replace_address(TensorMapSource source) {
    if (!source.is_device_accessible_) {
        refuse_map("the new memory is not device-accessible; use memory of a device, pinned or "
                   "managed memory");
    }
    if (source.device_id_ >= 0 && device_id_ >= 0 && source.device_id_ != device_id_) {
        refuse_map("replace_address expects tensor on device ", device_id_, ", got ",
                   source.device_id_);
    }
    check_address(source.address_, alignment_of(data_type_, interleave_));
    if (const std::uint64_t needed = reach_bytes(); source.bytes_ != 0 && source.bytes_ < needed) {
        refuse_map("the new memory has ", source.bytes_,
                   " bytes from its address on, but the map "
                   "describes ",
                   needed);
    }
    detail::TensorMapEncoder{*this}.call_encoder(driver::table().cuTensorMapReplaceAddress,
                                                 reinterpret_cast<CUtensorMap*>(map_.data()),
                                                 reinterpret_cast<void*>(source.address_));
    address_ = source.address_;
    owner_ = std::move(source.owner_);
}

} // namespace cuprum
