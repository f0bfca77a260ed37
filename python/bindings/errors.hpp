// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <exception>

namespace cuprum::python {

/// Sets the Python error for a C++ exception. For functions that are called by Python directly;
/// those bound with nanobind need not.
void set_python_error(const std::exception_ptr& exception) noexcept;

} // namespace cuprum::python
