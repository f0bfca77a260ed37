// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python {

/// Returns the slots that let Python's collector see the owner of a stream that was made elsewhere.
[[nodiscard]] PyType_Slot* stream_slots();

/// Returns the slots that let Python's collector see the owner of a pool that was made elsewhere.
[[nodiscard]] PyType_Slot* pool_slots();

} // namespace cuprum::python
