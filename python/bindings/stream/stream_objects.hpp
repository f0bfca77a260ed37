// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the Python objects of streams and events hold.

#pragma once

#include "support/held.hpp"
#include "support/hot_data.hpp"
#include "support/lent_owner.hpp"
#include "support/python_objects.hpp"
#include "support/recycling.hpp"

#include <cuprum/event.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

#include <utility>

namespace cuprum::python {

template <>
inline constexpr bool IS_RELEASE_BRIEF<Stream> = true;
template <>
inline constexpr bool IS_RELEASE_BRIEF<Event> = true;

using PyEvent = Held<Event>;

template <>
inline constexpr bool IS_RECYCLED<PyEvent> = true;

/// A stream, with the Python object that owns it if another library made it.
struct PyStream : Held<Stream> {
    // NOLINTNEXTLINE(google-explicit-constructor): a PyStream is its core object.
    PyStream(Stream stream) noexcept : Held<Stream>(std::move(stream)) {}

    PyStream(Stream stream, LentOwner owner) noexcept
        : Held<Stream>(std::move(stream)), lent(std::move(owner)) {}

    PyStream(const PyStream&) = delete;
    PyStream& operator=(const PyStream&) = delete;

    ~PyStream() { drop(); }

    /// Gives up the share and the owner. Call it with the GIL held.
    void drop() noexcept {
        Held<Stream>::drop();
        lent.settle();
    }

    LentOwner lent;
};

template <>
[[nodiscard]] inline bool may_refer_back(const PyStream& stream) noexcept {
    return stream.lent.owner().is_valid();
}

template <>
inline constexpr bool IS_RECYCLED<PyStream> = true;
template <>
inline PyTypeObject*& TYPE<PyStream> = hot_data.stream_type;

// The Python objects of the default streams, which are never released.
inline PyObject*& LEGACY_DEFAULT = hot_data.legacy_default;
inline PyObject*& PER_THREAD_DEFAULT = hot_data.per_thread_default;

/// Returns the Stream that a GraphBuilder captures.
[[nodiscard]] nb::handle captured_stream(nb::handle builder) noexcept;

/// Returns the Stream behind a valid `stream` argument: itself, or that of a GraphBuilder.
[[nodiscard]] inline nb::handle stream_object(nb::handle stream) noexcept {
    if (Py_TYPE(stream.ptr()) == TYPE<PyStream>) [[likely]] {
        return stream;
    }
    return captured_stream(stream);
}

/// Makes a Stream, or an object of a derived class, from a stream that `owner` keeps alive.
[[nodiscard]] nb::object wrap_stream(nb::handle type, CUstream handle, nb::handle owner);

/// Makes another Stream, or an object of a derived class, from the same stream.
[[nodiscard]] nb::object share_stream(nb::handle type, const PyStream& stream);

/// Makes a Stream, or an object of a derived class, from a Stream or an object with
/// `__cuda_stream__`.
/// @throws ValueError if options are given too.
[[nodiscard]] nb::object stream_of(nb::handle type, nb::handle object, nb::handle options);

} // namespace cuprum::python
