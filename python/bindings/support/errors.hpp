// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/error.hpp>

#include <exception>
#include <string>

namespace cuprum::python {

/// Raises a failed driver call as another class of cuprum._errors, which has a text of its own.
[[noreturn]] void raise_as(const char* class_name, const CUDAError& error, const std::string& text);

/// Sets the Python error for a C++ exception. For functions that are called by Python directly;
/// those bound with nanobind need not.
void set_python_error(const std::exception_ptr& exception) noexcept;

} // namespace cuprum::python
