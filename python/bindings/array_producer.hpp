// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "dlpack.hpp"
#include "objects.hpp"

#include <cstdint>

namespace cuprum::python {

/// How objects of a type are best viewed.
struct ArrayProducer {
    enum class Way : std::uint8_t {
        None,               // not at all
        Numpy,              // read the object itself
        Exchange,           // through the C functions of its type
        Cupy,               // read its attributes; `__dlpack__` where streams must be ordered
        Torch,              // of a version without such functions: ask its C++ side for a capsule
        DLPack,             // call `__dlpack__`
        CudaArrayInterface, // read `__cuda_array_interface__`
    };

    Way way = Way::None;
    bool may_borrow = false; // a view may use what the type lends, as long as it holds the object
    bool has_dlpack = false; // has both methods of the protocol
    const dlpack::ExchangeTable* table = nullptr; // for Exchange
};

/// Finds out how to view an object of this type; quick for a type seen before.
[[nodiscard]] ArrayProducer array_producer(nb::handle object);

} // namespace cuprum::python
