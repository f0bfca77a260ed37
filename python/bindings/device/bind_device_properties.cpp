// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/class.hpp"
#include "support/compatibility.hpp"

#include <cuda.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace cuprum::python {

namespace {

// The GIL is kept: the core remembers the values, and the driver answers the rest from a table.
int read(const DeviceProperties& properties, int attribute) {
    try {
        return properties.get(attribute);
    } catch (const CUDAError& error) {
        if (error.code() != CUDA_ERROR_INVALID_VALUE) {
            throw;
        }
        if (!compatibility::reads_unknown_attributes_as_zero()) {
            raise_as("UnknownAttributeError", error, error.what());
        }
        switch (attribute) {
        case CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT:
            return 1;
        case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
            return -1;
        default:
            return 0;
        }
    }
}

} // namespace

void bind_device_properties(nb::module_& module) {
    Class<DeviceProperties> type(module, "DeviceProperties", nb::is_weak_referenceable());
    type.refuse_construction(
        "DeviceProperties cannot be instantiated directly. Use Device.properties");
#define CUPRUM_INT_ATTRIBUTE(name, number)                                                         \
    type.property(#name, [](const DeviceProperties& self) { return read(self, number); });
#define CUPRUM_BOOL_ATTRIBUTE(name, number)                                                        \
    type.property(#name, [](const DeviceProperties& self) { return read(self, number) != 0; });
#include <cuprum/detail/device_attributes.def>
#undef CUPRUM_INT_ATTRIBUTE
#undef CUPRUM_BOOL_ATTRIBUTE
    type.method("get",
                [](const DeviceProperties& self, const std::string& name, nb::handle fallback) {
                    // is_supported raises for a name that no driver knows.
                    return self.is_supported(name) ? nb::object(nb::int_(self.get(name)))
                                                   : nb::borrow(fallback);
                });
    type.method("__repr__", [](const DeviceProperties& self) {
        return "<DeviceProperties compute_capability=" +
               std::to_string(self.compute_capability_major()) + "." +
               std::to_string(self.compute_capability_minor()) +
               " multiprocessor_count=" + std::to_string(self.multiprocessor_count()) +
               " warp_size=" + std::to_string(self.warp_size()) + ">";
    });
    type.method<&DeviceProperties::is_supported>("is_supported");
    type.static_method<&DeviceProperties::names>("names");
}

} // namespace cuprum::python
