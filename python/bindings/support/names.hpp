// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Names and tuples that are looked up and passed often, made once.

#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python {

/// Python objects that live as long as the process.
struct Names {
    PyObject* dlpack;             // "__dlpack__"
    PyObject* dlpack_device;      // "__dlpack_device__"
    PyObject* exchange_table;     // "__dlpack_c_exchange_api__"
    PyObject* cuda_array;         // "__cuda_array_interface__"
    PyObject* array;              // "__array_interface__"
    PyObject* data;               // "data"
    PyObject* ptr;                // "ptr"
    PyObject* device_id;          // "device_id"
    PyObject* shape;              // "shape"
    PyObject* strides;            // "strides"
    PyObject* dtype;              // "dtype"
    PyObject* typestr;            // "typestr"
    PyObject* version;            // "version"
    PyObject* mask;               // "mask"
    PyObject* stream;             // "stream"
    PyObject* torch_module;       // "torch._C"
    PyObject* to_dlpack;          // "_to_dlpack"
    PyObject* is_conj;            // "is_conj"
    PyObject* is_neg;             // "is_neg"
    PyObject* stream_keyword;     // ("stream",)
    PyObject* stream_and_version; // ("stream", "max_version")
    PyObject* newest_version;     // what we pass as max_version
};

/// Returns the names, made on the first call.
[[nodiscard]] const Names& names();

} // namespace cuprum::python
