// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_objects.hpp"
#include "memory/memory_pools.hpp"
#include "support/fast_method.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device.hpp>
#include <cuprum/host.hpp>
#include <cuprum/location.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

/// Reads `preferred_location` and `preferred_location_type`, which explain each other.
std::optional<Location> preferred_location(nb::handle options) {
    const nb::object resolved =
        nb::module_::import_("cuprum._memory_options").attr("resolve_preferred_location")(options);
    if (resolved.is_none()) {
        return std::nullopt;
    }
    const auto kind = nb::cast<std::string>(resolved[0]);
    const int number =
        optional_int_argument(nb::object(resolved[1]), "preferred_location").value_or(0);
    if (kind == "device") {
        return Location::device(Device(number));
    }
    return kind == "host" ? Location::host() : Location::host_numa(number);
}

} // namespace

void bind_managed_pool(nb::module_& module) {
    nb::class_<PyManagedMemoryResource, PyMemoryPool> type(
        module, "ManagedMemoryResource", nb::is_weak_referenceable(), nb::type_slots(pool_slots()),
        R"(A stream-ordered pool of managed memory, which moves between host and devices by itself.

Needs a driver for CUDA 13.0.

Parameters
----------
options : ManagedMemoryResourceOptions or dict, optional
    Create a pool with these options. Without options, the process's current pool of managed
    memory is used.

Raises
------
TypeError
    If an option is unknown.
ValueError
    If an option is out of range, as the ordinal of a device that does not exist.
CUDAError
    If the driver cannot create the pool.

Examples
--------
>>> managed = cuprum.ManagedMemoryResource().allocate(1024, stream=stream)
>>> managed.is_host_accessible, managed.is_device_accessible
(True, True))");
    note_type<PyManagedMemoryResource>(type);
    type.def(
        "__init__",
        [](PyManagedMemoryResource* self, nb::handle options) {
            const nb::object given = options_argument(options, "ManagedMemoryResourceOptions");
            ManagedMemoryResourceOptions how;
            if (given.is_valid()) {
                how.preferred_location = preferred_location(given);
            }
            auto pool = [&] {
                const nb::gil_scoped_release unlocked;
                return given.is_valid() ? ManagedMemoryResource::create(how)
                                        : ManagedMemoryResource::create();
            }();
            new (self) PyManagedMemoryResource(std::move(pool));
        },
        "options"_a = nb::none(),
        nb::sig("def __init__(self, options: cuprum._options.ManagedMemoryResourceOptions | dict | "
                "None = None) -> None"));
    fast_method<allocate<PyManagedMemoryResource, PyManagedBuffer>>(
        type, "def allocate(self, size: int, *, stream: Stream) -> ManagedBuffer", ALLOCATE);
    type.def_prop_ro(
        "preferred_location",
        [](const PyManagedMemoryResource& self) -> nb::object {
            const auto place = of_kind<ManagedMemoryResource>(self).preferred_location();
            if (!place) {
                return nb::none();
            }
            const bool has_id = place->kind != LocationKind::Host;
            return nb::make_tuple(to_string(place->kind),
                                  has_id ? nb::object(nb::int_(place->id)) : nb::none());
        },
        nb::sig("def preferred_location(self) -> tuple[str, int | None] | None"),
        "Return the preferred location, as (kind, number), or None.");
}

} // namespace cuprum::python
