// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "memory/buffer_objects.hpp"
#include "support/class.hpp"

#include <cstdint>
#include <variant>

namespace cuprum::python {

/// Binds what concerns parts of a buffer: slices, copies and fills of regions.
void bind_buffer_parts(Class<PyBuffer>& type);

/// Returns the buffer in an argument.
/// @throws TypeError naming the argument.
[[nodiscard]] const PyBuffer& buffer_argument(nb::handle value, const char* name);

/// Refuses a buffer that `name` says is read-only.
[[noreturn, gnu::cold]] void refuse_readonly(const char* name);

/// @throws ValueError, naming the argument, for memory that must not be written.
inline void check_writable(const PyBuffer& buffer, const char* name) {
    if (buffer.is_readonly) [[unlikely]] {
        refuse_readonly(name);
    }
}

/// Returns the pattern to fill with in an argument: an int is a byte, else it has the bytes.
/// @throws OverflowError, TypeError or ValueError for what is none.
[[nodiscard]] std::variant<std::uint8_t, std::uint16_t, std::uint32_t>
pattern_argument(nb::handle value);

/// Returns the slots that make a buffer's memory, where the host can reach it, visible through
/// Python's buffer protocol.
[[nodiscard]] PyType_Slot* buffer_protocol_slots();

} // namespace cuprum::python
