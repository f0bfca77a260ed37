// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_collection.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "support/class.hpp"
#include "support/recycling.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/location.hpp>
#include <cuprum/managed_buffer.hpp>

#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

[[nodiscard]] ManagedBuffer core_of(const PyManagedBuffer& self) {
    return ManagedBuffer(Buffer(self));
}

[[nodiscard]] std::vector<Location> location_list(nb::handle locations) {
    std::vector<Location> places;
    if (!nb::hasattr(locations, "__iter__")) {
        places.push_back(*location_argument(locations, false));
        return places;
    }
    for (nb::handle each : nb::borrow<nb::object>(locations)) {
        places.push_back(*location_argument(each, false));
    }
    return places;
}

/// A sequence of one is not "one for all": it pairs by index like any other.
[[nodiscard]] std::vector<Location> location_list(nb::handle locations, std::size_t buffers) {
    std::vector<Location> places = location_list(locations);
    if (nb::hasattr(locations, "__iter__") && places.size() != buffers) {
        raise_error(PyExc_ValueError, "locations length (" + std::to_string(places.size()) +
                                          ") does not match buffers length (" +
                                          std::to_string(buffers) +
                                          "); pass one location for all, or one for each");
    }
    return places;
}

void bind_advice(Class<PyManagedBuffer, PyBuffer>& type) {
    type.property(
        "read_mostly",
        [](const PyManagedBuffer& self) {
            const nb::gil_scoped_release unlocked;
            return core_of(self).read_mostly();
        },
        [](const PyManagedBuffer& self, nb::handle value) {
            const bool is_mostly_read = bool_argument(value, "read_mostly");
            const nb::gil_scoped_release unlocked;
            core_of(self).set_read_mostly(is_mostly_read);
        });
    type.property(
        "preferred_location",
        [](const PyManagedBuffer& self) -> nb::object {
            const auto place = without_gil([&] { return core_of(self).preferred_location(); });
            return place ? location_object(*place) : nb::none();
        },
        [](const PyManagedBuffer& self, nb::handle location) {
            const auto place = location_argument(location, true);
            const nb::gil_scoped_release unlocked;
            core_of(self).set_preferred_location(place);
        });
    type.property(
        "accessed_by",
        [](nb::handle self) {
            return nb::module_::import_("cuprum._managed").attr("AccessedBySetProxy")(self);
        },
        [](nb::handle self, nb::handle locations) {
            const std::vector<Location> places = location_list(locations);
            const auto& buffer = held_by<PyManagedBuffer>(self);
            const nb::gil_scoped_release unlocked;
            core_of(buffer).set_accessed_by(places);
        });
    type.method("_accessors", [](const PyManagedBuffer& self) {
        const auto places = without_gil([&] { return core_of(self).accessed_by(); });
        nb::list objects;
        for (const Location& place : places) {
            objects.append(location_object(place));
        }
        return objects;
    });
    type.method("_advise_accessor",
                [](const PyManagedBuffer& self, nb::handle location, bool is_added) {
                    const Location place = *location_argument(location, false);
                    const nb::gil_scoped_release unlocked;
                    if (is_added) {
                        core_of(self).add_accessed_by(place);
                    } else {
                        core_of(self).remove_accessed_by(place);
                    }
                });
    type.property("last_prefetch_location", [](const PyManagedBuffer& self) -> nb::object {
        const auto place = without_gil([&] { return core_of(self).last_prefetch_location(); });
        return place ? location_object(*place) : nb::none();
    });
}

void bind_moves(Class<PyManagedBuffer, PyBuffer>& type) {
    type.method("prefetch",
                [](const PyManagedBuffer& self, nb::handle location, const Stream& order) {
                    const Location place = *location_argument(location, false);
                    const nb::gil_scoped_release unlocked;
                    core_of(self).prefetch(place, order);
                });
    type.method("discard", [](const PyManagedBuffer& self, const Stream& order) {
        const nb::gil_scoped_release unlocked;
        core_of(self).discard(order);
    });
    type.method("discard_prefetch",
                [](const PyManagedBuffer& self, nb::handle location, const Stream& order) {
                    const Location place = *location_argument(location, false);
                    const nb::gil_scoped_release unlocked;
                    core_of(self).discard_prefetch(place, order);
                });
}

[[nodiscard]] std::vector<ManagedBuffer> managed_list(nb::handle buffers) {
    std::vector<ManagedBuffer> all;
    for (Buffer& buffer : buffer_list_argument(buffers, "buffers")) {
        all.emplace_back(std::move(buffer));
    }
    return all;
}

void bind_batches(nb::module_& module) {
    function(module, "prefetch_batch",
             [](const Stream& order, nb::handle buffers, nb::handle locations) {
                 const std::vector<ManagedBuffer> all = managed_list(buffers);
                 const std::vector<Location> places = location_list(locations, all.size());
                 const nb::gil_scoped_release unlocked;
                 prefetch_batch(order, all, places);
             });
    function(module, "discard_batch", [](const Stream& order, nb::handle buffers) {
        const std::vector<ManagedBuffer> all = managed_list(buffers);
        const nb::gil_scoped_release unlocked;
        discard_batch(order, all);
    });
    function(module, "discard_prefetch_batch",
             [](const Stream& order, nb::handle buffers, nb::handle locations) {
                 const std::vector<ManagedBuffer> all = managed_list(buffers);
                 const std::vector<Location> places = location_list(locations, all.size());
                 const nb::gil_scoped_release unlocked;
                 discard_prefetch_batch(order, all, places);
             });
}

} // namespace

void bind_managed_buffer(nb::module_& module) {
    Class<PyManagedBuffer, PyBuffer> type(module, "ManagedBuffer", nb::is_weak_referenceable(),
                                          nb::type_slots(buffer_slots()));
    allow_chains<PyManagedBuffer>(type);
    type.refuse_construction("a ManagedBuffer is not made directly; use "
                             "ManagedMemoryResource.allocate() or ManagedBuffer.from_handle()");
    type.static_method<&wrap_memory<PyManagedBuffer>>("from_handle");
    bind_advice(type);
    bind_moves(type);
    bind_batches(module);
}

} // namespace cuprum::python
