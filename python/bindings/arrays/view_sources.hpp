// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where views come from. Each function fills an empty view; one that throws leaves it fit only to
// be destroyed.

#pragma once

#include "arrays/array_producer.hpp"
#include "arrays/strided_memory_view.hpp"
#include "support/arguments.hpp"

#include <cuprum/dlpack.hpp>

#include <cstdint>

namespace cuprum::python {

/// The argument `stream_ptr`: which stream will use the memory.
struct ConsumerStream {
    enum class Kind : std::uint8_t {
        NotGiven, // None
        NoOrder,  // -1: the caller orders its work
        Handle,
    };

    Kind kind = Kind::NotGiven;
    std::uintptr_t handle = 0; // 0 and 1 are the legacy default stream, 2 the thread's own

    [[nodiscard]] static ConsumerStream from(nb::handle argument, const char* name = "stream_ptr") {
        Py_ssize_t number = 0;
        if (!read_small_int(argument, number) || number < -1) {
            return from_unusual(argument, name);
        }
        return number == -1 ? ConsumerStream{Kind::NoOrder, 0}
                            : ConsumerStream{Kind::Handle, static_cast<std::uintptr_t>(number)};
    }

    /// @throws BufferError if it was not given.
    void require() const {
        if (kind == Kind::NotGiven) [[unlikely]] {
            refuse_none();
        }
    }

    /// Makes the consumer wait for what the producer's stream holds.
    void wait_for(std::uintptr_t producer) const;

private:
    [[noreturn, gnu::cold]] static void refuse_none();
    [[nodiscard]] static ConsumerStream from_unusual(nb::handle argument, const char* name);
};

[[gnu::hot]] void view_any(StridedMemoryView& view, nb::handle object, ConsumerStream stream);
void view_dlpack(StridedMemoryView& view, nb::handle object, ConsumerStream stream);
void view_cuda_array_interface(StridedMemoryView& view, nb::handle object, ConsumerStream stream);
void view_array_interface(StridedMemoryView& view, nb::handle object);
/// Reads a numpy array.
[[gnu::hot]] void view_numpy(StridedMemoryView& view, nb::handle array);
/// Reads a CuPy array in place. Returns false, with the view empty, for an unusual one.
[[nodiscard, gnu::hot]] bool view_cupy_array(StridedMemoryView& view, nb::handle array);
/// Reads a CuPy array by its attributes, which its compiled code answers much faster than
/// `__dlpack__`. Returns false, with the view empty, if they are not those of CuPy.
[[nodiscard]] bool view_cupy(StridedMemoryView& view, nb::handle array);
/// Takes over a tensor that C code handed out; `object` is what the view keeps alive.
void view_managed(StridedMemoryView& view, nb::handle object,
                  dlpack::ManagedTensorVersioned* tensor);

/// Views a part of a buffer.
void view_buffer(StridedMemoryView& view, nb::handle buffer, nb::object layout, nb::handle dtype,
                 bool is_readonly);
/// Views what another view views, differently.
void view_view(StridedMemoryView& view, StridedMemoryView& source, nb::object layout,
               nb::handle dtype);

} // namespace cuprum::python
