// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What is inside a Python object of ours, read in place.
//
// nanobind answers the same with a call each. After a driver call the processor's caches hold the
// driver's code, and every function of ours that is touched on the way costs more than its
// instructions: so the few loads are made here. They are of nanobind 3.1; `check_instances` sees,
// when the module is imported, that they read what nanobind reads, and any other version is asked.

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>

namespace cuprum::python {

namespace nb = nanobind;

#if NB_VERSION_MAJOR == 3 && NB_VERSION_MINOR == 1

/// What nanobind's instances begin with.
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

/// Tells whether an object of ours holds its C++ object; one made with __new__ alone does not.
[[nodiscard]] inline bool is_ready(nb::handle object) noexcept {
    return (head_of(object).flags & InstanceHead::STATE) == InstanceHead::READY;
}

/// Returns the C++ object inside an object of ours.
template <typename T>
[[nodiscard]] inline T* payload(nb::handle object) noexcept {
    const InstanceHead& head = head_of(object);
    char* const place = reinterpret_cast<char*>(object.ptr()) + head.offset;
    if ((head.flags & InstanceHead::DIRECT) == 0) [[unlikely]] {
        return static_cast<T*>(*reinterpret_cast<void**>(place));
    }
    return reinterpret_cast<T*>(place);
}

/// Tells whether an object of ours holds its C++ object inside itself: all do that were made here.
[[nodiscard]] inline bool is_ready_inside(nb::handle object) noexcept {
    return (head_of(object).flags & (InstanceHead::STATE | InstanceHead::DIRECT)) ==
           (InstanceHead::READY | InstanceHead::DIRECT);
}

/// Returns the C++ object, or its place, inside an object that nb::inst_alloc made.
template <typename T>
[[nodiscard]] inline T* inside(nb::handle object) noexcept {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(object.ptr()) + head_of(object).offset);
}

/// Says that the C++ object of an instance that nb::inst_alloc made is there now.
inline void mark_ready(nb::handle object) noexcept {
    head_of(object).flags |= InstanceHead::READY | InstanceHead::DESTRUCT;
}

/// Tells whether an object holds its C++ object inside itself, to be destroyed with it, and no more
/// is to be done then.
[[nodiscard]] inline bool is_plain(nb::handle object) noexcept {
    constexpr int plain = InstanceHead::READY | InstanceHead::DIRECT | InstanceHead::INTERNAL |
                          InstanceHead::DESTRUCT;
    return head_of(object).flags == plain && head_of(object).keeps_others_alive == 0;
}

/// Says that the C++ object of a plain object is no more.
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

/// Tells whether Python's collector knows of an object of ours.
[[nodiscard]] inline bool is_tracked(nb::handle object) noexcept {
#if !defined(Py_GIL_DISABLED) && PY_VERSION_HEX < 0x030F0000
    // Before an object lies what chains it to the others that the collector knows of.
    return *(reinterpret_cast<const std::uintptr_t*>(object.ptr()) - 2) != 0;
#else
    return PyObject_GC_IsTracked(object.ptr()) != 0;
#endif
}

/// Compares what is read here with what nanobind and Python say, on a new object of a type that can
/// be recycled without its C++ object.
inline void check_instances(nb::handle type) {
    const nb::object object = nb::inst_alloc(type);
    bool is_same = !is_ready(object) && payload<void>(object) == nb::inst_ptr<void>(object) &&
                   inside<void>(object) == nb::inst_ptr<void>(object);
    is_same = is_same && is_tracked(object) == (PyObject_GC_IsTracked(object.ptr()) != 0);
    PyObject_GC_UnTrack(object.ptr());
    is_same = is_same && !is_tracked(object);
    mark_ready(object);
    const bool is_marked = is_ready(object) && nb::inst_state(object) == std::pair(true, true);
    mark_empty(object); // there is nothing in it to destroy
    const bool is_unmarked = nb::inst_state(object) == std::pair(false, false);
    if (!is_same || !is_marked || !is_unmarked) {
        throw std::logic_error("objects are laid out otherwise than instances.hpp says");
    }
}

} // namespace cuprum::python
