// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "memory/buffer_objects.hpp"
#include "support/class.hpp"

namespace cuprum::python {

/// Returns a Buffer's slots: those of the buffer protocol, and those that let Python's collector
/// see through it, so that a resource which keeps its own buffers can be collected.
[[nodiscard]] const PyType_Slot* buffer_slots();

/// Binds what lets a Buffer go to other processes.
void bind_buffer_sharing(Class<PyBuffer>& type);

} // namespace cuprum::python
