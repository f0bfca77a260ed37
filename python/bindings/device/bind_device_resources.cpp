// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "device/device_objects.hpp"
#include "support/choices.hpp"
#include "support/python_objects.hpp"

#include <cuprum/device_resources.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cuprum::python {

using namespace nb::literals;

namespace {

void bind_multiprocessors(nb::module_& module);
void bind_work_queues(nb::module_& module);
[[nodiscard]] std::vector<SMGroup> groups_of(nb::handle options);
[[nodiscard]] nb::object split(const SMResource& self, nb::handle options, bool is_dry_run);

/// Refuses to make an object of a class directly.
template <typename Class>
void refuse_making(Class& type, const char* text) {
    type.def(
        "__init__",
        [text](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError, text);
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
}

} // namespace

void bind_device_resources(nb::module_& module) {
    bind_multiprocessors(module);
    bind_work_queues(module);
    nb::class_<DeviceResources> type(module, "DeviceResources", nb::is_weak_referenceable(),
                                     R"(The resources of a device, or of one of its contexts.

Obtained from ``Device.resources``, ``Context.resources`` or ``Stream.resources``.

Examples
--------
>>> device.resources.sm.sm_count == device.properties.multiprocessor_count
True)");
    note_type<DeviceResources>(type);
    refuse_making(type, "DeviceResources objects cannot be instantiated directly. Use "
                        "Device.resources or Context.resources");
    type.def("__repr__", [](const DeviceResources& self) {
        return "<DeviceResources device=" + std::to_string(self.device().ordinal()) + ">";
    });
    type.def_prop_ro(
        "sm",
        [](const DeviceResources& self) {
            auto sm = [&] {
                const nb::gil_scoped_release unlocked;
                return self.sm();
            }();
            return make<SMResource>(std::move(sm));
        },
        nb::sig("def sm(self) -> SMResource"),
        R"(Return the multiprocessors.

Raises
------
NotSupportedError
    If the driver is older than CUDA 12.4.)");
    type.def_prop_ro(
        "workqueue",
        [](const DeviceResources& self) {
            auto queues = [&] {
                const nb::gil_scoped_release unlocked;
                return self.workqueue();
            }();
            return make<WorkqueueResource>(std::move(queues));
        },
        nb::sig("def workqueue(self) -> WorkqueueResource"),
        R"(Return the work queues.

Raises
------
NotSupportedError
    If the driver is older than CUDA 13.1.)");
}

ContextOptions context_options(nb::handle options) {
    const nb::object given = options_argument(options, "ContextOptions");
    const nb::object resources = given.is_valid() ? given.attr("resources") : nb::none();
    if (resources.is_none()) {
        raise_error(PyExc_ValueError,
                    "resources must be provided: ContextOptions(resources=[...]) with at least one "
                    "SMResource; Context.create() makes a context that is not green");
    }
    ContextOptions how;
    for (const nb::handle item : resources) {
        if (const SMResource* sm = get_if<SMResource>(item)) {
            how.resources.emplace_back(*sm);
        } else if (const WorkqueueResource* queues = get_if<WorkqueueResource>(item)) {
            how.resources.emplace_back(*queues);
        } else {
            raise_error(PyExc_TypeError, "resources must hold SMResource and WorkqueueResource "
                                         "objects, got " +
                                             type_label(item));
        }
    }
    if (how.resources.empty()) {
        raise_error(PyExc_ValueError, "resources must not be empty: at least one SMResource is "
                                      "needed");
    }
    return how;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

void bind_multiprocessors(nb::module_& module) {
    nb::class_<SMResource> type(module, "SMResource", nb::is_weak_referenceable(),
                                R"(A set of multiprocessors of one device.

Obtained from ``DeviceResources.sm`` and ``split``. It reserves nothing until a context is made of
it.

Examples
--------
>>> groups, rest = device.resources.sm.split(cuprum.SMResourceOptions(count=8))
>>> groups[0].sm_count >= 8
True)");
    note_type<SMResource>(type);
    refuse_making(type, "SMResource objects cannot be instantiated directly. Use "
                        "DeviceResources.sm or SMResource.split()");
    type.def_prop_ro(
        "handle",
        [](const SMResource& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); },
        "Return the address of the driver's ``CUdevResource``, which lives with this object.");
    type.def_prop_ro("sm_count", &SMResource::sm_count, "Return the number of multiprocessors.");
    type.def_prop_ro("min_partition_size", &SMResource::min_partition_size,
                     "Return the fewest multiprocessors that a part may have.");
    type.def_prop_ro(
        "coscheduled_alignment", &SMResource::coscheduled_alignment,
        "Return the granularity of parts: their sizes are rounded up to multiples of it.");
    type.def_prop_ro("flags", &SMResource::flags, "Return the driver's flags.");
    type.def_prop_ro(
        "device", [](const SMResource& self) { return device_object(self.device()); },
        nb::sig("def device(self) -> Device"), "Return the device they belong to.");
    type.def_prop_ro("is_usable", &SMResource::is_usable,
                     "Return whether a context can be created from it. False after a dry run.");
    type.def("split", split, "options"_a, nb::kw_only(), "dry_run"_a = false,
             nb::sig("def split(self, options: cuprum._options.SMResourceOptions | dict, *, "
                     "dry_run: bool = False) -> tuple[list[SMResource], SMResource]"),
             R"(Split into groups and a remainder. This object does not change.

Parameters
----------
options : SMResourceOptions or dict
    The groups. Different sizes and co-scheduling need a driver for CUDA 13.1.
dry_run : bool, optional
    Compute the sizes only; no context can be created from the result.

Returns
-------
tuple of list of SMResource and SMResource
    The groups, and the remainder.

Raises
------
CUDAError
    With ``CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION`` if the device cannot be split this way.
NotSupportedError
    If the driver is too old for these options.)");
    type.def("__repr__", [](const SMResource& self) {
        return "<SMResource sm_count=" + std::to_string(self.sm_count()) +
               " device=" + std::to_string(self.device().ordinal()) +
               (self.is_usable() ? ">" : " dry_run=True>");
    });
}

void bind_work_queues(nb::module_& module) {
    nb::class_<WorkqueueResource> type(module, "WorkqueueResource", nb::is_weak_referenceable(),
                                       R"(The work queues of a device or context.

Obtained from ``DeviceResources.workqueue``.

Examples
--------
>>> queues = device.resources.workqueue
>>> queues.configure(cuprum.WorkqueueResourceOptions(concurrency_limit=2)))");
    note_type<WorkqueueResource>(type);
    refuse_making(type, "WorkqueueResource objects cannot be instantiated directly. Use "
                        "DeviceResources.workqueue");
    type.def_prop_ro(
        "handle",
        [](const WorkqueueResource& self) {
            return reinterpret_cast<std::uintptr_t>(self.handle());
        },
        "Return the address of the driver's ``CUdevResource``, which lives with this object.");
    type.def_prop_ro(
        "sharing_scope",
        [](const WorkqueueResource& self) {
            return WORKQUEUE_SHARING_SCOPES.member(self.sharing_scope());
        },
        nb::sig("def sharing_scope(self) -> cuprum.typing.WorkqueueSharingScopeType"),
        "Return which contexts share the queues.");
    type.def_prop_ro("concurrency_limit", &WorkqueueResource::concurrency_limit,
                     "Return how many streams should not wait for each other.");
    type.def_prop_ro(
        "device", [](const WorkqueueResource& self) { return device_object(self.device()); },
        nb::sig("def device(self) -> Device"), "Return the device they belong to.");
    type.def(
        "configure",
        [](const WorkqueueResource& self, nb::handle options) {
            const nb::object given = options_argument(options, "WorkqueueResourceOptions");
            WorkqueueResourceOptions wanted;
            if (given.is_valid()) {
                const nb::object scope = given.attr("sharing_scope");
                if (!scope.is_none()) {
                    wanted.sharing_scope = WORKQUEUE_SHARING_SCOPES.parse(scope, "sharing_scope");
                }
                const nb::object limit = given.attr("concurrency_limit");
                if (!limit.is_none()) {
                    wanted.concurrency_limit =
                        static_cast<unsigned>(size_argument(limit, "concurrency_limit"));
                }
            }
            self.configure(wanted);
        },
        "options"_a.none(),
        nb::sig("def configure(self, options: cuprum._options.WorkqueueResourceOptions | dict | "
                "None) -> None"),
        R"(Change the settings for contexts that are created from it afterwards.

Parameters
----------
options : WorkqueueResourceOptions or dict
    What to change. None leaves a setting unchanged.

Raises
------
ValueError
    If the limit is 0.)");
    type.def("__repr__", [](const WorkqueueResource& self) {
        return "<WorkqueueResource concurrency_limit=" + std::to_string(self.concurrency_limit()) +
               " device=" + std::to_string(self.device().ordinal()) + ">";
    });
}

[[nodiscard]] std::optional<unsigned> optional_count(nb::handle value, const char* name) {
    if (value.is_none()) {
        return std::nullopt;
    }
    return static_cast<unsigned>(size_argument(value, name));
}

std::vector<SMGroup> groups_of(nb::handle options) {
    const nb::object given = options_argument(options, "SMResourceOptions");
    std::vector<SMGroup> groups;
    if (!given.is_valid()) {
        groups.emplace_back();
        return groups;
    }
    for (const nb::handle item : nb::object(given.attr("_groups")())) {
        groups.push_back(
            {.count = optional_count(nb::object(item[0]), "count"),
             .coscheduled_sm_count = optional_count(nb::object(item[1]), "coscheduled_sm_count"),
             .preferred_coscheduled_sm_count =
                 optional_count(nb::object(item[2]), "preferred_coscheduled_sm_count"),
             .backfill = flag_argument(nb::object(item[3]), false)});
    }
    return groups;
}

nb::object split(const SMResource& self, nb::handle options, bool is_dry_run) {
    const std::vector<SMGroup> groups = groups_of(options);
    SMSplit made = [&] {
        const nb::gil_scoped_release unlocked;
        return self.split(groups, is_dry_run);
    }();
    nb::list parts;
    for (SMResource& part : made.groups) {
        parts.append(make<SMResource>(std::move(part)));
    }
    return nb::make_tuple(parts, make<SMResource>(std::move(made.remainder)));
}

} // namespace

} // namespace cuprum::python
