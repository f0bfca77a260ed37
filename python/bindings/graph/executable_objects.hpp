// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the Python objects of an executable graph's nodes hold.

#pragma once

#include "support/class.hpp"

#include <cuprum/graph/graph.hpp>

#include <nanobind/nanobind.h>

#include <utility>

namespace cuprum::python {

namespace nb = nanobind;

/// The base of all.
struct AnyExecutable {};

/// A node of one kind in an executable graph.
template <typename Kind>
struct PyExecutable : AnyExecutable {
    explicit PyExecutable(Kind view) : core(std::move(view)) {}

    PyExecutable(const PyExecutable&) = delete;
    PyExecutable& operator=(const PyExecutable&) = delete;

    ~PyExecutable() {
        const nb::gil_scoped_release unlocked; // it may have the last share of the graph
        const Kind gone = std::move(core);
    }

    Kind core;
};

template <typename Kind>
using ExecutableClass = Class<PyExecutable<Kind>, AnyExecutable>;

} // namespace cuprum::python
