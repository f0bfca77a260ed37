// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "arrays/strided_memory_view.hpp"
#include "support/class.hpp"

namespace cuprum::python {

/// Binds the copies between views.
void bind_view_copy(Class<StridedMemoryView>& type);

} // namespace cuprum::python
