// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The structures of the DLPack protocol that this library uses, laid out as the specification
// says: version 1.3 with its C exchange functions, and the unversioned form before 1.0. They can be
// cast to and from those of the protocol's own header.

#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace cuprum::dlpack {

/// The kind of device that a tensor lies on. The values are the protocol's, except Unknown.
enum class DeviceType : std::int32_t {
    Unknown = 0,
    Cpu = 1,
    Cuda = 2,
    CudaHost = 3,
    CudaManaged = 13,
};

/// The kind of an element. Other codes are floats of 8 bits and less.
enum class TypeCode : std::uint8_t {
    Int = 0,
    UInt = 1,
    Float = 2,
    BFloat = 4,
    Complex = 5,
    Bool = 6,
    FirstFloat8 = 7,
    LastFloat8 = 14,
};

/// The device that a tensor lies on.
struct Device {
    DeviceType type; // the kind of device
    std::int32_t id; // the ordinal of the device
};

/// The type of an element.
struct DataType {
    TypeCode code;       // the kind of number
    std::uint8_t bits;   // bits of one number
    std::uint16_t lanes; // numbers in one element; 1 unless it is a vector
    friend bool operator==(const DataType&, const DataType&) = default;
};

/// An array of another library, without ownership.
struct Tensor {
    void* data;                // where the memory begins
    Device device;             // where the memory lies
    std::int32_t ndim;         // the number of axes
    DataType dtype;            // the type of an element
    std::int64_t* shape;       // the extent of each axis
    std::int64_t* strides;     // in elements; null means contiguous
    std::uint64_t byte_offset; // from `data` to the first element
};

/// An array with its owner, in the form before version 1.0. The consumer calls the deleter once.
struct ManagedTensor {
    Tensor tensor; // the tensor itself
    void* owner;   // belongs to the producer
    /// The consumer calls it once, when it no longer needs the tensor.
    void (*deleter)(ManagedTensor* self);
};

/// The version of the protocol that a structure follows.
struct Version {
    std::uint32_t major; // changes when the layout of the structures changes
    std::uint32_t minor; // changes when something is added
};

/// An array with its owner. The consumer calls the deleter once.
struct ManagedTensorVersioned {
    Version version; // the version of the structure
    void* owner;     // belongs to the producer
    /// The consumer calls it once, when it no longer needs the tensor.
    void (*deleter)(ManagedTensorVersioned* self);
    std::uint64_t flags; // such as FLAG_READ_ONLY
    Tensor tensor;       // the tensor itself
};

/// The beginning of every table of exchange functions.
struct ExchangeHeader {
    Version version;          // the version of the table
    ExchangeHeader* previous; // an older table, for older consumers
};

/// A callback that reports why an allocation failed.
using SetError = void (*)(void* context, const char* kind, const char* message);

/// The exchange functions of a Python type, found on the type as a capsule. They return 0, or -1
/// with a Python error set, and never wait for a stream.
struct ExchangeTable {
    ExchangeHeader header; // the version, and older tables
    /// Allocates a tensor like a prototype.
    int (*allocate)(Tensor* prototype, ManagedTensorVersioned** out, void* context,
                    SetError set_error);
    /// Exports an object as a tensor.
    int (*managed_from_object)(void* object, ManagedTensorVersioned** out);
    /// Makes an object of a tensor.
    int (*managed_to_object)(ManagedTensorVersioned* tensor, void** out_object);
    /// Exports an object without taking ownership. May be null.
    int (*tensor_from_object)(void* object, Tensor* out);
    /// Returns the stream that a library uses on a device.
    int (*current_work_stream)(DeviceType type, std::int32_t id, void** out_stream);
};

/// The version of DLPack that the library speaks.
constexpr Version CURRENT_VERSION{1, 3};
/// The flag of a tensor that must not be written to.
constexpr std::uint64_t FLAG_READ_ONLY = 1;

/// The name of a capsule with a ManagedTensor.
constexpr const char* NAME = "dltensor";
/// The name of a capsule with a ManagedTensorVersioned.
constexpr const char* VERSIONED_NAME = "dltensor_versioned";
/// The name of a capsule whose ManagedTensor was taken.
constexpr const char* USED_NAME = "used_dltensor";
/// The name of a capsule whose ManagedTensorVersioned was taken.
constexpr const char* USED_VERSIONED_NAME = "used_dltensor_versioned";
/// The name of a capsule with an ExchangeTable.
constexpr const char* EXCHANGE_NAME = "dlpack_exchange_api";

/// Returns the element type for T. It has no bits if the protocol has no such type.
template <typename T>
[[nodiscard]] constexpr DataType type_of() noexcept {
    using Plain = std::remove_cv_t<T>;
    constexpr auto bits = static_cast<std::uint8_t>(sizeof(Plain) * 8);
    if constexpr (std::same_as<Plain, bool>) {
        return {TypeCode::Bool, bits, 1};
    } else if constexpr (std::floating_point<Plain> && sizeof(Plain) <= sizeof(double)) {
        return {TypeCode::Float, bits, 1};
    } else if constexpr (std::same_as<Plain, std::complex<float>> ||
                         std::same_as<Plain, std::complex<double>>) {
        return {TypeCode::Complex, bits, 1};
    } else if constexpr (std::integral<Plain>) {
        return {std::is_signed_v<Plain> ? TypeCode::Int : TypeCode::UInt, bits, 1};
    } else {
        return {TypeCode::Int, 0, 0};
    }
}

static_assert(sizeof(Tensor) == 48 && sizeof(ManagedTensor) == 64 &&
              sizeof(ManagedTensorVersioned) == 80 && sizeof(ExchangeTable) == 56);

} // namespace cuprum::dlpack
