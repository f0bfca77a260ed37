// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "dlpack.hpp"
#include "objects.hpp"

namespace cuprum::python {

/// Binds DLPack's methods of a buffer.
void bind_buffer_dlpack(nb::class_<PyBuffer>& type);

/// Returns where DLPack says a buffer lies.
/// @throws BufferError if neither host nor device can reach it.
[[nodiscard]] dlpack::Device dlpack_device_of(const PyBuffer& buffer);

/// Tells whether the driver moves the memory between host and devices.
template <typename Memory>
[[nodiscard]] bool is_managed_memory(const Memory& memory) {
    if constexpr (requires { memory.is_managed(); }) {
        return memory.is_managed();
    } else {
        return false;
    }
}

/// Returns what kind of memory this is to DLPack.
/// @throws BufferError if neither host nor device can reach it.
[[nodiscard]] dlpack::DeviceType dlpack_device_type_of(const Buffer& memory, bool is_managed);

} // namespace cuprum::python
