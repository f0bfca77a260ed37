// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "strided_memory_view.hpp"

namespace cuprum::python {

/// Binds DLPack's methods of a view.
void bind_view_dlpack(nb::class_<StridedMemoryView>& type);

} // namespace cuprum::python
