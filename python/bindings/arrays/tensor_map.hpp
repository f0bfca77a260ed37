// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "arrays/strided_memory_view.hpp"

#include <cuprum/tensor_map.hpp>

#include <nanobind/nanobind.h>

namespace cuprum::python {

/// A tensor map, and the view whose memory it describes.
struct PyTensorMap {
    PyTensorMap(const TensorMapDescriptor& map, nb::object source, int device)
        : core(map), view(std::move(source)), device_id(device) {}

    TensorMapDescriptor core;
    nb::object view; // keeps the memory alive
    int device_id;   // that it was made for
};

/// Makes a tiled map of a view: the function behind StridedMemoryView.as_tensor_map.
[[nodiscard]] nb::object tensor_map_of(nb::handle view, nb::handle box_dim, nb::handle options,
                                       nb::handle element_strides, nb::handle data_type,
                                       nb::handle interleave, nb::handle swizzle,
                                       nb::handle l2_promotion, nb::handle oob_fill);

} // namespace cuprum::python
