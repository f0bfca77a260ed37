// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The part of the DLPack protocol that we speak: its structures, laid out as the specification
// (version 1.0, and the unversioned form before it) says.

#pragma once

#include <cstddef>
#include <cstdint>

namespace cuprum::python::dlpack {

/// Where a tensor lies.
enum class DeviceType : std::int32_t { Cpu = 1, Cuda = 2, CudaHost = 3, CudaManaged = 13 };

/// What an element is.
enum class TypeCode : std::uint8_t {
    Int = 0,
    UInt = 1,
    Float = 2,
    BFloat = 4,
    Complex = 5,
    Bool = 6
};

struct Device {
    DeviceType type;
    std::int32_t id;
};

struct DataType {
    TypeCode code;
    std::uint8_t bits;
    std::uint16_t lanes;
};

struct Tensor {
    void* data;
    Device device;
    std::int32_t ndim;
    DataType dtype;
    std::int64_t* shape;
    std::int64_t* strides; // in elements; null means contiguous
    std::uint64_t byte_offset;
};

struct ManagedTensor {
    Tensor tensor;
    void* owner;
    void (*deleter)(ManagedTensor* self);
};

struct Version {
    std::uint32_t major;
    std::uint32_t minor;
};

struct ManagedTensorVersioned {
    Version version;
    void* owner;
    void (*deleter)(ManagedTensorVersioned* self);
    std::uint64_t flags;
    Tensor tensor;
};

constexpr Version CURRENT_VERSION{1, 0};
constexpr std::uint64_t FLAG_READ_ONLY = 1;

constexpr const char* NAME = "dltensor";
constexpr const char* VERSIONED_NAME = "dltensor_versioned";
constexpr const char* USED_NAME = "used_dltensor";
constexpr const char* USED_VERSIONED_NAME = "used_dltensor_versioned";

static_assert(sizeof(Tensor) == 48 && sizeof(ManagedTensor) == 64 &&
              sizeof(ManagedTensorVersioned) == 80);

} // namespace cuprum::python::dlpack
