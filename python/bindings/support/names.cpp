// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/names.hpp"

#include "arrays/dlpack.hpp"

#include <cuprum/dlpack.hpp>

#include <nanobind/nanobind.h>

namespace cuprum::python {

namespace nb = nanobind;

const Names& names() {
    static const Names* const made = [] {
        const auto intern = [](const char* text) { return PyUnicode_InternFromString(text); };
        const auto tuple = [](const nb::object& object) {
            return nb::object(object).release().ptr();
        };
        return new Names{
            .dlpack = intern("__dlpack__"),
            .dlpack_device = intern("__dlpack_device__"),
            .exchange_table = intern("__dlpack_c_exchange_api__"),
            .cuda_array = intern("__cuda_array_interface__"),
            .array = intern("__array_interface__"),
            .data = intern("data"),
            .ptr = intern("ptr"),
            .device_id = intern("device_id"),
            .shape = intern("shape"),
            .strides = intern("strides"),
            .dtype = intern("dtype"),
            .typestr = intern("typestr"),
            .version = intern("version"),
            .mask = intern("mask"),
            .stream = intern("stream"),
            .torch_module = intern("torch._C"),
            .to_dlpack = intern("_to_dlpack"),
            .is_conj = intern("is_conj"),
            .is_neg = intern("is_neg"),
            .stream_keyword = tuple(nb::make_tuple(nb::steal(intern("stream")))),
            .stream_and_version = tuple(
                nb::make_tuple(nb::steal(intern("stream")), nb::steal(intern("max_version")))),
            .newest_version =
                tuple(nb::make_tuple(dlpack::CURRENT_VERSION.major, dlpack::CURRENT_VERSION.minor)),
        };
    }();
    return *made;
}

} // namespace cuprum::python
