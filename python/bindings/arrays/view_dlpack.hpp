// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "arrays/strided_memory_view.hpp"
#include "support/class.hpp"

#include <cuprum/dlpack.hpp>

namespace cuprum::python {

/// Binds DLPack's methods of a view.
void bind_view_dlpack(Class<StridedMemoryView>& type);

/// Returns the view that a tensor of a view holds, null if it is another's tensor.
[[nodiscard]] PyObject* kept_by_view_tensor(const dlpack::ManagedTensor* tensor) noexcept;
[[nodiscard]] PyObject* kept_by_view_tensor(const dlpack::ManagedTensorVersioned* tensor) noexcept;

} // namespace cuprum::python
