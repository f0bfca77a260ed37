// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects.hpp"

namespace cuprum::python {

/// Adds the DLPack export to the Buffer class.
void bind_buffer_dlpack(nb::class_<PyBuffer>& type);

} // namespace cuprum::python
