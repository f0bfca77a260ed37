// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_objects.hpp"
#include "memory/memory_pools.hpp"
#include "support/class.hpp"

#include <cuprum/host.hpp>
#include <cuprum/location.hpp>

namespace cuprum::python {

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
    Class<PyManagedMemoryResource, PyMemoryPool> type(
        module, "ManagedMemoryResource", nb::is_weak_referenceable(), nb::type_slots(pool_slots()));
    type.constructor([](PyManagedMemoryResource* self, nb::handle options) {
        const nb::object given = options_argument(options, "ManagedMemoryResourceOptions");
        ManagedMemoryResourceOptions how;
        if (given.is_valid()) {
            how.preferred_location = preferred_location(given);
        }
        auto pool = without_gil([&] {
            return given.is_valid() ? ManagedMemoryResource::create(how)
                                    : ManagedMemoryResource::create();
        });
        new (self) PyManagedMemoryResource(std::move(pool));
    });
    type.method<allocate<PyManagedMemoryResource, PyManagedBuffer>>("allocate", HOT);
    type.property("preferred_location", [](const PyManagedMemoryResource& self) -> nb::object {
        const auto place = of_kind<ManagedMemoryResource>(self).preferred_location();
        if (!place) {
            return nb::none();
        }
        const bool has_id = place->kind != LocationKind::Host;
        return nb::make_tuple(to_string(place->kind),
                              has_id ? nb::object(nb::int_(place->id)) : nb::none());
    });
}

} // namespace cuprum::python
