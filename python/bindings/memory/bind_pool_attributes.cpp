// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/memory_pools.hpp"
#include "support/python_objects.hpp"

#include <cuprum/memory_pool.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

namespace cuprum::python {

namespace {

/// Returns a flag, from a bool or from 0 or 1.
std::uint64_t wanted_flag(nb::handle value, const char* name) {
    if (PyIndex_Check(value.ptr()) == 0) {
        return bool_argument(value, name) ? 1 : 0;
    }
    const std::uint64_t number = address_argument(value, name);
    if (number > 1) {
        raise_error(PyExc_ValueError, std::string(name) + " must be False or True, 0 or 1, got " +
                                          std::to_string(number));
    }
    return number;
}

template <PoolAttribute Name, bool IsFlag>
void bind_attribute(nb::class_<PyPoolAttributes>& type, const char* name, const char* sentence) {
    const auto get = [](const PyPoolAttributes& self) {
        const std::uint64_t value = [&] {
            const nb::gil_scoped_release unlocked;
            return self.pool->attribute(Name);
        }();
        return IsFlag ? nb::bool_(value != 0) : nb::object(nb::int_(value));
    };
    const auto set = [name](const PyPoolAttributes& self, nb::handle value) {
        constexpr bool is_mark =
            Name == PoolAttribute::ReservedMemHigh || Name == PoolAttribute::UsedMemHigh;
        if (Name == PoolAttribute::ReservedMemCurrent || Name == PoolAttribute::UsedMemCurrent) {
            raise_error(PyExc_AttributeError, std::string("attribute '") + name +
                                                  "' of a pool's attributes is not writable");
        }
        const std::uint64_t wanted =
            IsFlag ? wanted_flag(value, name) : address_argument(value, name);
        if (is_mark && wanted != 0) {
            raise_error(PyExc_AttributeError, std::string("Attribute '") + name +
                                                  "' may only be set to zero (got " +
                                                  std::to_string(wanted) + ").");
        }
        const nb::gil_scoped_release unlocked;
        self.pool->set_attribute(Name, wanted);
    };
    const std::string kind = IsFlag ? "bool" : "int";
    const std::string getter = std::string("def ") + name + "(self) -> " + kind;
    const std::string setter =
        std::string("def ") + name + "(self, value: " + kind + ", /) -> None";
    type.def_prop_rw(name, get, set, nb::arg().none(), nb::for_getter(nb::sig(getter.c_str())),
                     nb::for_setter(nb::sig(setter.c_str())), sentence);
}

} // namespace

void bind_pool_attributes(nb::module_& module) {
    nb::class_<PyPoolAttributes> type(
        module, "MemoryPoolAttributes",
        R"(The memory that a pool holds and has held, and its settings. Each read asks the driver.

You can set the reuse flags and the release threshold, and the high-water marks to 0. Keeps the
pool alive, even if its resource is closed.

Examples
--------
>>> pool = cuprum.DeviceMemoryResource(device)
>>> pool.attributes.release_threshold = 1 << 20
>>> pool.attributes.release_threshold
1048576)");
    note_type<PyPoolAttributes>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, "MemoryPoolAttributes cannot be instantiated directly; "
                                            "use a pool's attributes");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    bind_attribute<PoolAttribute::ReuseFollowEventDependencies, true>(
        type, "reuse_follow_event_dependencies",
        "Return whether memory freed on one stream is reused on another that waits for it.");
    bind_attribute<PoolAttribute::ReuseAllowOpportunistic, true>(
        type, "reuse_allow_opportunistic",
        "Return whether memory is reused once the free is seen to be done.");
    bind_attribute<PoolAttribute::ReuseAllowInternalDependencies, true>(
        type, "reuse_allow_internal_dependencies",
        "Return whether the driver may add waits between streams to reuse memory.");
    bind_attribute<PoolAttribute::ReleaseThreshold, false>(
        type, "release_threshold", "Return how many reserved bytes are kept at a synchronisation.");
    bind_attribute<PoolAttribute::ReservedMemCurrent, false>(
        type, "reserved_mem_current", "Return the bytes that the pool holds.");
    bind_attribute<PoolAttribute::ReservedMemHigh, false>(
        type, "reserved_mem_high", "Return the most bytes that the pool has held.");
    bind_attribute<PoolAttribute::UsedMemCurrent, false>(type, "used_mem_current",
                                                         "Return the bytes in use.");
    bind_attribute<PoolAttribute::UsedMemHigh, false>(type, "used_mem_high",
                                                      "Return the most bytes that were in use.");
    type.def("__repr__", [](const PyPoolAttributes& self) {
        const PoolAttributes now = [&] {
            const nb::gil_scoped_release unlocked;
            return self.pool->attributes();
        }();
        const auto number = [](const char* name, std::uint64_t value) {
            return std::string(name) + "=" + std::to_string(value);
        };
        const auto flag = [](const char* name, bool value) {
            return std::string(name) + "=" + (value ? "True" : "False");
        };
        return "MemoryPoolAttributes(" + number("release_threshold", now.release_threshold) + ", " +
               number("reserved_mem_current", now.reserved_mem_current) + ", " +
               number("reserved_mem_high", now.reserved_mem_high) + ", " +
               flag("reuse_allow_internal_dependencies", now.reuse_allow_internal_dependencies) +
               ", " + flag("reuse_allow_opportunistic", now.reuse_allow_opportunistic) + ", " +
               flag("reuse_follow_event_dependencies", now.reuse_follow_event_dependencies) + ", " +
               number("used_mem_current", now.used_mem_current) + ", " +
               number("used_mem_high", now.used_mem_high) + ")";
    });
}

} // namespace cuprum::python
