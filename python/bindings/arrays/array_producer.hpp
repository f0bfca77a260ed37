// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "arrays/dlpack.hpp"

#include <cuprum/dlpack.hpp>

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>

namespace cuprum::python {

namespace nb = nanobind;

/// How objects of a type are best viewed.
struct ArrayProducer {
    enum class Way : std::uint8_t {
        None,               // not at all
        Numpy,              // read the object itself
        Exchange,           // through the C functions of its type
        CupyArray,          // read the object itself
        Cupy,               // read its attributes; `__dlpack__` where streams must be ordered
        Torch,              // of a version without such functions: ask its C++ side for a capsule
        DLPack,             // call `__dlpack__`
        CudaArrayInterface, // read `__cuda_array_interface__`
    };

    const dlpack::ExchangeTable* table = nullptr; // for Exchange
    Way way = Way::None;
    bool may_borrow = false; // a view may use what the type lends, as long as it holds the object
    bool is_from_torch = false; // a tensor of PyTorch's, or of a class derived from it…
    bool is_torch_type = false; // …and not of a derived one: see torch_tensors.hpp
    bool has_dlpack = false;    // has both methods of the protocol
};

/// Finds out how to view an object; quick for a type seen before. What is returned holds until the
/// next call.
[[nodiscard]] inline const ArrayProducer& array_producer(nb::handle object);

// ---- types seen before -------------------------------------------------------------------------

/// What was found out about a type.
///
/// Keyed by the type's version, which Python renews when the type changes and never gives twice: so
/// a type need not be kept alive, and one made anew at the same address is not mistaken for it.
struct SeenProducer {
    PyTypeObject* type = nullptr;
    unsigned version = 0;
    ArrayProducer producer;
};

#ifndef Py_GIL_DISABLED
inline constinit std::array<SeenProducer, 16> seen_producers; // guarded by the GIL

/// Returns a type's version, 0 if it has none at present.
[[nodiscard]] inline unsigned version_of(PyTypeObject* type) noexcept {
#if PY_VERSION_HEX < 0x030B0000
    // NOTE: this Python leaves the old number in a type that has changed.
    if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) == 0) {
        return 0;
    }
#endif
    return type->tp_version_tag;
}

[[nodiscard]] inline SeenProducer& place_of(PyTypeObject* type) noexcept {
    constexpr unsigned alignment_bits = 4;
    const auto address = reinterpret_cast<std::uintptr_t>(type) >> alignment_bits;
    return seen_producers[(address ^ (address >> 7U)) % seen_producers.size()];
}
#endif

/// Finds out, and remembers if objects of the type are alike.
[[nodiscard]] const ArrayProducer& unseen_producer(nb::handle object);

const ArrayProducer& array_producer(nb::handle object) {
#ifndef Py_GIL_DISABLED
    PyTypeObject* const type = Py_TYPE(object.ptr());
    const SeenProducer& place = place_of(type);
    if (place.type == type && place.version == version_of(type)) [[likely]] {
        return place.producer;
    }
#endif
    return unseen_producer(object);
}

} // namespace cuprum::python
