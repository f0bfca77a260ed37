// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Shared by the bindings of the three kinds of pool; bind_memory_pool.cpp binds their base class.

#pragma once

#include "memory/memory_objects.hpp"
#include "support/held.hpp"
#include "support/owner_collection.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/memory_pool.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>

namespace cuprum::python {

/// The attributes of a pool, which it keeps alive. Each read asks the driver.
struct PyPoolAttributes {
    explicit PyPoolAttributes(std::shared_ptr<MemoryPool> asked) : pool(std::move(asked)) {}

    ~PyPoolAttributes() { pool.drop(); }

    PyPoolAttributes(const PyPoolAttributes&) = delete;
    PyPoolAttributes& operator=(const PyPoolAttributes&) = delete;

    PoolShare pool;
};

/// Returns a pool as the class of its kind.
template <typename Kind>
[[nodiscard]] Kind& of_kind(const PyMemoryPool& pool) {
    return static_cast<Kind&>(*pool.core);
}

/// Binds MemoryPoolAttributes, and the kinds of pool.
void bind_pool_attributes(nb::module_& module);
void bind_device_pool(nb::module_& module);
void bind_pinned_pool(nb::module_& module);
void bind_managed_pool(nb::module_& module);

/// Returns the module that shares pools with other processes.
[[nodiscard]] nb::object sharing();

/// Allocates from one kind of pool: its `allocate` method.
template <typename Pool, typename Made>
[[nodiscard]] nb::object allocate(nb::handle self, nb::handle size, nb::handle stream) {
    const auto& resource = held_by<Pool>(self);
    const std::size_t bytes = size_argument(size, "size");
    try {
        return allocate_in<Made>(*resource.core, nb::borrow(self), bytes, stream);
    } catch (const std::invalid_argument&) {
        if (resource.core->is_mapped()) {
            raise_error(PyExc_TypeError,
                        "Cannot allocate from a mapped IPC-enabled memory resource");
        }
        throw;
    }
}

} // namespace cuprum::python
