// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The fields of LaunchConfig from Python.

#pragma once

#include <cuprum/launch_config.hpp>

#include <nanobind/nanobind.h>

#include <array>

namespace cuprum::python {

namespace nb = nanobind;

/// A field beyond the common ones: how it is called, and how it is set.
struct ExtraField {
    const char* name;
    bool is_flag; // False and None are the same
    /// Converts the value into the configuration and returns what reading the field gives.
    nb::object (*set)(LaunchConfig& config, nb::handle value);
};

/// All of them, in the order of the signature.
extern const std::array<ExtraField, 13> EXTRA_FIELDS;

/// Returns the fields beyond the common ones that a configuration has, as keywords.
[[nodiscard]] nb::dict extra_keywords(const LaunchConfig& config);

/// Returns the extents of an integer or a tuple of up to three.
/// @throws ValueError naming the field.
[[nodiscard]] Dim3 extents_of(nb::handle value, const char* name);

/// Returns one extent.
[[nodiscard]] unsigned extent_argument(nb::handle value, const char* name);

[[nodiscard]] bool flag_of(nb::handle value);

} // namespace cuprum::python
