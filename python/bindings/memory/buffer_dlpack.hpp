// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "arrays/dlpack.hpp"
#include "memory/buffer_objects.hpp"
#include "support/class.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/device.hpp>
#include <cuprum/dlpack.hpp>

namespace cuprum::python {

struct ConsumerStream;

/// Binds DLPack's methods of a buffer.
void bind_buffer_dlpack(Class<PyBuffer>& type);

/// Returns where DLPack says a buffer lies.
/// @throws BufferError if neither host nor device can reach it.
[[nodiscard]] dlpack::Device dlpack_device_of(const PyBuffer& buffer);

/// Returns what kind of memory this is to DLPack.
/// @throws BufferError if neither host nor device can reach it.
[[nodiscard]] dlpack::DeviceType dlpack_device_type_of(const Buffer& memory);

/// Makes the stream that will use a buffer's memory wait for the one that it will be freed on;
/// false if there is none.
bool wait_for_buffer(const ConsumerStream& consumer, const Buffer& memory);

/// Returns the Python object that a tensor of a buffer holds, null if it holds none or is
/// another's.
[[nodiscard]] PyObject* kept_by_buffer_tensor(const dlpack::ManagedTensor* tensor) noexcept;
[[nodiscard]] PyObject*
kept_by_buffer_tensor(const dlpack::ManagedTensorVersioned* tensor) noexcept;

} // namespace cuprum::python
