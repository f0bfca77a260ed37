// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reading PyTorch's tensors through the C functions that it keeps stable for compiled models. They
// take a third of the time of its DLPack function, which makes a C++ tensor and drops it again.
//
// The functions need the address of the C++ tensor, and PyTorch does not promise where a Python
// object holds it. So the first tensors of each element type and device are read both ways. Only if
// the results are equal are the functions used for tensors of that kind; DLPack reads all others.
// CUPRUM_DISABLE_FAST_PATHS=torch turns this off.

#pragma once

#include "arrays/dlpack.hpp"

#include <cuprum/dlpack.hpp>

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace cuprum::python {

namespace nb = nanobind;

/// What is known of the PyTorch at hand; guarded by the GIL.
struct TorchTensors {
    using Tensor = void*; // the address of a C++ tensor
    using Number = std::int32_t (*)(Tensor, std::int32_t*);
    using Extents = std::int32_t (*)(Tensor, std::int64_t**);

    /// Elements and devices of a kind that was seen before; no bits if it was not.
    struct Kind {
        dlpack::DataType type;
        dlpack::DeviceType device;
    };

    static constexpr std::size_t MAX_TYPES = 64;  // PyTorch has some forty
    static constexpr std::size_t MAX_DEVICES = 2; // its first two are the CPU and CUDA

    // All functions return 0, or write what went wrong to the standard error and return another.
    Number layout = nullptr;
    Number device_type = nullptr;
    Number type = nullptr;
    Number device_index = nullptr;
    std::int32_t (*dimensions)(Tensor, std::int64_t*) = nullptr;
    Extents sizes = nullptr;
    Extents strides = nullptr;
    std::int32_t (*data)(Tensor, void**) = nullptr;

    const dlpack::ExchangeTable* table = nullptr; // whose tensors these are; null: of none
    std::size_t tensor_at = 0;                    // where a Python object has it; 0: not known
    std::int32_t strided = 0;                     // the layout of what was seen
    bool has_other_layout = false;                // the two ways differ: DLPack is used
    std::array<std::array<Kind, MAX_TYPES>, MAX_DEVICES> kinds{};

    /// Finds what is known of tensors like this one, and reads its layout; null if it cannot.
    [[nodiscard]] Kind* find(Tensor tensor, std::int32_t& its_layout) noexcept {
        std::int32_t device = 0;
        std::int32_t number = 0;
        if (layout(tensor, &its_layout) != 0 || device_type(tensor, &device) != 0 ||
            type(tensor, &number) != 0 || static_cast<std::uint32_t>(device) >= MAX_DEVICES ||
            static_cast<std::uint32_t>(number) >= MAX_TYPES) [[unlikely]] {
            return nullptr;
        }
        return &kinds[static_cast<std::size_t>(device)][static_cast<std::size_t>(number)];
    }
};

inline constinit TorchTensors torch_tensors;

/// Returns whether objects of a type are PyTorch's own tensors, and not of a derived class that may
/// have something else in them.
[[nodiscard]] bool is_torch_type(PyTypeObject* type);

/// Reads a tensor of a kind that was seen before. Returns false for any other, and if it fails.
[[nodiscard]] inline bool read_torch_tensor(nb::handle object, const dlpack::ExchangeTable& table,
                                            dlpack::Tensor& tensor) noexcept;

/// Compares what DLPack says of a tensor with what the other functions do, so that
/// read_torch_tensor() can read the next of the same kind.
void note_torch_tensor(nb::handle object, const dlpack::ExchangeTable& table,
                       const dlpack::Tensor& lent) noexcept;

bool read_torch_tensor(nb::handle object, const dlpack::ExchangeTable& table,
                       dlpack::Tensor& tensor) noexcept {
    TorchTensors& torch = torch_tensors;
    if (torch.table != &table || torch.tensor_at == 0) [[unlikely]] {
        return false;
    }
    TorchTensors::Tensor const inside = reinterpret_cast<char*>(object.ptr()) + torch.tensor_at;
    std::int32_t layout = 0;
    const TorchTensors::Kind* const known = torch.find(inside, layout);
    if (known == nullptr || layout != torch.strided || known->type.bits == 0) [[unlikely]] {
        return false;
    }
    const TorchTensors::Kind kind = *known;
    std::int64_t dimensions = 0;
    tensor.dtype = kind.type;
    tensor.device = {kind.device, 0};
    tensor.byte_offset = 0;
    const bool is_read =
        torch.data(inside, &tensor.data) == 0 && torch.dimensions(inside, &dimensions) == 0 &&
        torch.sizes(inside, &tensor.shape) == 0 && torch.strides(inside, &tensor.strides) == 0 &&
        (kind.device == dlpack::DeviceType::Cpu ||
         torch.device_index(inside, &tensor.device.id) == 0);
    tensor.ndim = static_cast<std::int32_t>(dimensions);
    return is_read;
}

} // namespace cuprum::python
