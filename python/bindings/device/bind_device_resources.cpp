// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_objects.hpp"
#include "support/choices.hpp"
#include "support/class.hpp"

#include <cuprum/device_resources.hpp>

#include <vector>

namespace cuprum::python {

namespace {

[[nodiscard]] std::optional<unsigned> optional_count(nb::handle value, const char* name) {
    if (value.is_none()) {
        return std::nullopt;
    }
    return static_cast<unsigned>(size_argument(value, name));
}

[[nodiscard]] std::vector<SMGroup> groups_of(nb::handle options) {
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

[[nodiscard]] nb::object split(const SMResource& self, nb::handle options, bool is_dry_run) {
    const std::vector<SMGroup> groups = groups_of(options);
    SMSplit made = without_gil([&] { return self.split(groups, is_dry_run); });
    nb::list parts;
    for (SMResource& part : made.groups) {
        parts.append(make<SMResource>(std::move(part)));
    }
    return nb::make_tuple(parts, make<SMResource>(std::move(made.remainder)));
}

void bind_multiprocessors(nb::module_& module) {
    Class<SMResource> type(module, "SMResource", nb::is_weak_referenceable());
    type.refuse_construction("SMResource objects cannot be instantiated directly. Use "
                             "DeviceResources.sm or SMResource.split()");
    type.property("handle", [](const SMResource& self) {
        return reinterpret_cast<std::uintptr_t>(self.handle());
    });
    type.property("sm_count", &SMResource::sm_count);
    type.property("min_partition_size", &SMResource::min_partition_size);
    type.property("coscheduled_alignment", &SMResource::coscheduled_alignment);
    type.property("flags", &SMResource::flags);
    type.property("device", [](const SMResource& self) { return device_object(self.device()); });
    type.property("is_usable", &SMResource::is_usable);
    type.method<split>("split");
    type.method("__repr__", [](const SMResource& self) {
        return "<SMResource sm_count=" + std::to_string(self.sm_count()) +
               " device=" + std::to_string(self.device().ordinal()) +
               (self.is_usable() ? ">" : " dry_run=True>");
    });
}

void bind_work_queues(nb::module_& module) {
    Class<WorkqueueResource> type(module, "WorkqueueResource", nb::is_weak_referenceable());
    type.refuse_construction("WorkqueueResource objects cannot be instantiated directly. Use "
                             "DeviceResources.workqueue");
    type.property("handle", [](const WorkqueueResource& self) {
        return reinterpret_cast<std::uintptr_t>(self.handle());
    });
    type.property("sharing_scope", [](const WorkqueueResource& self) {
        return WORKQUEUE_SHARING_SCOPES.member(self.sharing_scope());
    });
    type.property("concurrency_limit", &WorkqueueResource::concurrency_limit);
    type.property("device",
                  [](const WorkqueueResource& self) { return device_object(self.device()); });
    type.method("configure", [](const WorkqueueResource& self, nb::handle options) {
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
    });
    type.method("__repr__", [](const WorkqueueResource& self) {
        return "<WorkqueueResource concurrency_limit=" + std::to_string(self.concurrency_limit()) +
               " device=" + std::to_string(self.device().ordinal()) + ">";
    });
}

} // namespace

void bind_device_resources(nb::module_& module) {
    bind_multiprocessors(module);
    bind_work_queues(module);
    Class<DeviceResources> type(module, "DeviceResources", nb::is_weak_referenceable());
    type.refuse_construction("DeviceResources objects cannot be instantiated directly. Use "
                             "Device.resources or Context.resources");
    type.method("__repr__", [](const DeviceResources& self) {
        return "<DeviceResources device=" + std::to_string(self.device().ordinal()) + ">";
    });
    type.property("sm", [](const DeviceResources& self) {
        auto sm = without_gil([&] { return self.sm(); });
        return make<SMResource>(std::move(sm));
    });
    type.property("workqueue", [](const DeviceResources& self) {
        auto queues = without_gil([&] { return self.workqueue(); });
        return make<WorkqueueResource>(std::move(queues));
    });
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

} // namespace cuprum::python
