// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/buffer_objects.hpp"
#include "memory/memory_objects.hpp"
#include "support/class.hpp"

#include <cuprum/graph_memory_resource.hpp>

namespace cuprum::python {

namespace {

/// The attributes of a device's graph memory. Each read asks the driver.
struct PyGraphMemoryAttributes {
    std::shared_ptr<GraphMemoryResource> resource;
};

[[nodiscard]] GraphMemoryResource& core_of(const PyGraphMemoryResource& self) {
    return static_cast<GraphMemoryResource&>(*self.core);
}

template <GraphMemoryAttribute Name>
void bind_attribute(Class<PyGraphMemoryAttributes>& type, const char* name) {
    const auto set = [name](const PyGraphMemoryAttributes& self, nb::handle value) {
        constexpr bool is_mark = Name == GraphMemoryAttribute::UsedMemHigh ||
                                 Name == GraphMemoryAttribute::ReservedMemHigh;
        if (!is_mark) {
            raise_error(PyExc_AttributeError,
                        std::string("attribute '") + name +
                            "' of 'GraphMemoryResourceAttributes' objects is not writable");
        }
        if (const std::uint64_t wanted = address_argument(value, name); wanted != 0) {
            raise_error(PyExc_AttributeError, std::string("Attribute '") + name +
                                                  "' may only be set to zero (got " +
                                                  std::to_string(wanted) + ").");
        }
        const nb::gil_scoped_release unlocked;
        self.resource->set_attribute(Name, 0);
    };
    type.property(
        name,
        [](const PyGraphMemoryAttributes& self) {
            const nb::gil_scoped_release unlocked;
            return self.resource->attribute(Name);
        },
        set);
}

void bind_attributes(nb::module_& module) {
    Class<PyGraphMemoryAttributes> type(module, "GraphMemoryResourceAttributes");
    type.refuse_construction("GraphMemoryResourceAttributes cannot be instantiated "
                             "directly; use GraphMemoryResource.attributes");
    bind_attribute<GraphMemoryAttribute::ReservedMemCurrent>(type, "reserved_mem_current");
    bind_attribute<GraphMemoryAttribute::ReservedMemHigh>(type, "reserved_mem_high");
    bind_attribute<GraphMemoryAttribute::UsedMemCurrent>(type, "used_mem_current");
    bind_attribute<GraphMemoryAttribute::UsedMemHigh>(type, "used_mem_high");
    type.method("__repr__", [](const PyGraphMemoryAttributes& self) {
        const auto field = [&](const char* name, GraphMemoryAttribute attribute) {
            return std::string(name) + "=" + std::to_string(self.resource->attribute(attribute));
        };
        const nb::gil_scoped_release unlocked;
        return "GraphMemoryResourceAttributes(" +
               field("reserved_mem_current", GraphMemoryAttribute::ReservedMemCurrent) + ", " +
               field("reserved_mem_high", GraphMemoryAttribute::ReservedMemHigh) + ", " +
               field("used_mem_current", GraphMemoryAttribute::UsedMemCurrent) + ", " +
               field("used_mem_high", GraphMemoryAttribute::UsedMemHigh) + ")";
    });
}

/// Returns the one object of a device, made on first use and kept.
[[nodiscard]] nb::object resource_object(nb::handle device_id) {
    static nb::ft_mutex mutex;
    static auto* known = new std::vector<PyObject*>; // held for the life of the process
    const Device device = device_argument(device_id, "device_id");
    const nb::ft_lock_guard lock(mutex);
    known->resize(std::max(known->size(), static_cast<std::size_t>(device.ordinal()) + 1));
    PyObject*& slot = (*known)[static_cast<std::size_t>(device.ordinal())];
    if (slot == nullptr) {
        slot = make<PyGraphMemoryResource>(GraphMemoryResource::of(device)).release().ptr();
    }
    return nb::borrow(slot);
}

} // namespace

void bind_graph_memory_resource(nb::module_& module) {
    bind_attributes(module);
    Class<PyGraphMemoryResource, PyNativeResource> type(module, "GraphMemoryResource",
                                                        nb::is_weak_referenceable());
    type.creator<&resource_object>();
    type.method("allocate", [](nb::handle self, std::size_t bytes, nb::handle stream) {
        const Stream& order = stream_argument(stream);
        auto& core = core_of(held_by<PyGraphMemoryResource>(self));
        auto buffer = without_gil([&] { return core.allocate(bytes, order); });
        nb::object made = make<PyBuffer>(std::move(buffer), nb::borrow(self), nb::object());
        keep_foreign_stream(made, stream);
        return made;
    });
    type.method("deallocate", [](const PyGraphMemoryResource& self, nb::handle ptr,
                                 std::size_t bytes, const Stream& order) {
        const CUdeviceptr pointer = address_argument(ptr, "ptr");
        const nb::gil_scoped_release unlocked;
        self.core->deallocate_bytes(pointer, bytes, order);
    });
    type.property("attributes", [](const PyGraphMemoryResource& self) {
        return make<PyGraphMemoryAttributes>(
            std::static_pointer_cast<GraphMemoryResource>(self.core));
    });
    type.method(
        "trim", [](const PyGraphMemoryResource& self) { core_of(self).trim(); }, RELEASES_GIL);
    type.method("close", [](nb::handle) {});
    type.property("device_id",
                  [](const PyGraphMemoryResource& self) { return self.core->device_id(); });
    type.property("is_device_accessible", [](const PyGraphMemoryResource&) { return true; });
    type.property("is_host_accessible", [](const PyGraphMemoryResource&) { return false; });
}

} // namespace cuprum::python
