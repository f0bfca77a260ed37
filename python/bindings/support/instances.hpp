// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reads what a Python object of ours holds, in place.
//
// nanobind needs a function call for the same. After a driver call the processor's caches hold the
// driver's code, so a call to a function of ours costs more than its instructions: a few loads here
// cost less. They fit nanobind 3.1. `are_instances_as_expected` compares them with nanobind's
// answers when the module is imported. If they differ, or with another version of nanobind, or if
// the environment turns this off, the functions below call nanobind. See fast_paths.hpp.

#pragma once

#include "support/hot_data.hpp"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>

namespace cuprum::python {

namespace nb = nanobind;

#if NB_VERSION_MAJOR == 3 && NB_VERSION_MINOR == 1

/// The beginning of nanobind's instances.
struct InstanceHead {
    static constexpr std::uint8_t STATE = 0x03;
    static constexpr std::uint8_t READY = 0x02;
    static constexpr std::uint8_t DIRECT = 0x04;
    static constexpr std::uint8_t INTERNAL = 0x08;
    static constexpr std::uint8_t DESTRUCT = 0x10;

    PyObject head;
    std::int32_t offset; // to the C++ object, or to a pointer to it
    std::uint8_t flags;
    std::uint8_t keeps_others_alive;
};

[[nodiscard]] inline InstanceHead& head_of(nb::handle object) noexcept {
    return *reinterpret_cast<InstanceHead*>(object.ptr());
}

/// Returns whether an object of ours holds its C++ object. One made with __new__ alone does not.
[[nodiscard]] inline bool is_ready(nb::handle object) noexcept {
    if (!hot_data.reads_instances) [[unlikely]] {
        return nb::inst_ready(object);
    }
    return (head_of(object).flags & InstanceHead::STATE) == InstanceHead::READY;
}

/// Returns the C++ object inside an object of ours.
template <typename T>
[[nodiscard]] inline T* payload(nb::handle object) noexcept {
    if (!hot_data.reads_instances) [[unlikely]] {
        return nb::inst_ptr<T>(object);
    }
    const InstanceHead& head = head_of(object);
    char* const place = reinterpret_cast<char*>(object.ptr()) + head.offset;
    if ((head.flags & InstanceHead::DIRECT) == 0) [[unlikely]] {
        return static_cast<T*>(*reinterpret_cast<void**>(place));
    }
    return reinterpret_cast<T*>(place);
}

/// Returns whether an object of ours holds its C++ object inside itself, as all do that are made
/// here. False if instances are not read in place.
[[nodiscard]] inline bool is_ready_inside(nb::handle object) noexcept {
    return hot_data.reads_instances &&
           (head_of(object).flags & (InstanceHead::STATE | InstanceHead::DIRECT)) ==
               (InstanceHead::READY | InstanceHead::DIRECT);
}

/// Returns the C++ object, or its place, inside an object that nb::inst_alloc made.
template <typename T>
[[nodiscard]] inline T* inside(nb::handle object) noexcept {
    if (!hot_data.reads_instances) [[unlikely]] {
        return nb::inst_ptr<T>(object);
    }
    return reinterpret_cast<T*>(reinterpret_cast<char*>(object.ptr()) + head_of(object).offset);
}

/// Marks an instance that nb::inst_alloc made: its C++ object now exists.
inline void mark_ready(nb::handle object) noexcept {
    if (!hot_data.reads_instances) [[unlikely]] {
        nb::inst_mark_ready(object);
        return;
    }
    head_of(object).flags |= InstanceHead::READY | InstanceHead::DESTRUCT;
}

/// Returns whether an object holds its C++ object inside itself, to be destroyed with it, and has
/// nothing else to clean up. False if instances are not read in place.
[[nodiscard]] inline bool is_plain(nb::handle object) noexcept {
    constexpr int plain = InstanceHead::READY | InstanceHead::DIRECT | InstanceHead::INTERNAL |
                          InstanceHead::DESTRUCT;
    return hot_data.reads_instances && head_of(object).flags == plain &&
           head_of(object).keeps_others_alive == 0;
}

/// Marks a plain object whose C++ object has been destroyed.
inline void mark_empty(nb::handle object) noexcept {
    head_of(object).flags = InstanceHead::DIRECT | InstanceHead::INTERNAL;
}

#else

#define CUPRUM_ASKS_NANOBIND

[[nodiscard]] inline bool is_ready(nb::handle object) noexcept {
    return nb::inst_ready(object);
}

template <typename T>
[[nodiscard]] inline T* payload(nb::handle object) noexcept {
    return nb::inst_ptr<T>(object);
}

[[nodiscard]] inline bool is_ready_inside(nb::handle /*object*/) noexcept {
    return false;
}

template <typename T>
[[nodiscard]] inline T* inside(nb::handle object) noexcept {
    return nb::inst_ptr<T>(object);
}

inline void mark_ready(nb::handle object) noexcept {
    nb::inst_mark_ready(object);
}

[[nodiscard]] inline bool is_plain(nb::handle /*object*/) noexcept {
    return false;
}

inline void mark_empty(nb::handle object) noexcept {
    nb::inst_set_state(object, false, false);
}

#endif

/// Returns whether Python's garbage collector tracks an object of ours.
[[nodiscard]] inline bool is_tracked(nb::handle object) noexcept {
#if !defined(Py_GIL_DISABLED) && PY_VERSION_HEX < 0x030F0000
    if (hot_data.reads_instances) [[likely]] {
        // The two words before an object link it into the collector's list.
        return *(reinterpret_cast<const std::uintptr_t*>(object.ptr()) - 2) != 0;
    }
#endif
    return PyObject_GC_IsTracked(object.ptr()) != 0;
}

/// Compares what is read here with the answers of nanobind and Python, on a new object of a type
/// that takes part in garbage collection. Call it before the type is recycled.
[[nodiscard]] inline bool are_instances_as_expected(nb::handle type) {
    const nb::object object = nb::inst_alloc(type);
    bool is_same = !is_ready(object) && payload<void>(object) == nb::inst_ptr<void>(object) &&
                   inside<void>(object) == nb::inst_ptr<void>(object);
    is_same = is_same && is_tracked(object) == (PyObject_GC_IsTracked(object.ptr()) != 0);
    PyObject_GC_UnTrack(object.ptr());
    is_same = is_same && !is_tracked(object);
    if (!is_same) {
        PyObject_GC_Track(object.ptr());
        return false; // and nothing is written to it
    }
    mark_ready(object);
    const bool is_marked = is_ready(object) && nb::inst_state(object) == std::pair(true, true);
    mark_empty(object);
    const bool is_unmarked = nb::inst_state(object) == std::pair(false, false);
    nb::inst_set_state(object, false, false); // there is nothing in it to destroy
    PyObject_GC_Track(object.ptr());
    return is_marked && is_unmarked;
}

} // namespace cuprum::python
