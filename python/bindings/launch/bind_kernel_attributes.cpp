// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/bind_kernel.hpp"
#include "launch/kernel_objects.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"
#include "support/held.hpp"

#include <cuprum/kernel.hpp>

namespace cuprum::python {

namespace {

/// The attributes of a kernel on one device, the current one if none was named.
struct PyKernelAttributes {
    explicit PyKernelAttributes(const Kernel& shared, std::optional<Device> on = {})
        : kernel(shared), device(on) {}

    [[nodiscard]] int read(KernelAttribute attribute) const {
        const nb::gil_scoped_release unlocked; // the first reading may load or compile the kernel
        return kernel.attribute(attribute, device ? *device : Device());
    }

    void write(KernelAttribute attribute, int value) const {
        const nb::gil_scoped_release unlocked;
        kernel.set_attribute(attribute, value, device ? *device : Device());
    }

    Held<Kernel> kernel;
    std::optional<Device> device;
};

template <KernelAttribute Attribute>
void bind_number(Class<PyKernelAttributes>& type, const char* name) {
    type.property(name, [](const PyKernelAttributes& self) { return self.read(Attribute); });
}

template <KernelAttribute Attribute>
void bind_flag(Class<PyKernelAttributes>& type, const char* name) {
    type.property(name, [](const PyKernelAttributes& self) { return self.read(Attribute) != 0; });
}

template <KernelAttribute Attribute>
void bind_settable(Class<PyKernelAttributes>& type, const char* name) {
    type.property(
        name, [](const PyKernelAttributes& self) { return self.read(Attribute); },
        [name](const PyKernelAttributes& self, nb::handle value) {
            const std::optional<int> wanted = optional_int_argument(value, name);
            if (!wanted) {
                raise_error(PyExc_TypeError, std::string(name) + " must be an integer, got None");
            }
            self.write(Attribute, *wanted);
        });
}

} // namespace

void bind_kernel_attributes(nb::module_& module, Class<PyKernel>& kernel) {
    Class<PyKernelAttributes> type(module, "KernelAttributes");
    type.refuse_construction(
        "KernelAttributes cannot be instantiated directly. Use Kernel.attributes");
    type.method("__getitem__", [](const PyKernelAttributes& self, const Device& device) {
        return make<PyKernelAttributes>(self.kernel, device);
    });
    type.method("__repr__", [](nb::handle self) {
        const auto& held = held_by<PyKernelAttributes>(self);
        const auto kernel = reinterpret_cast<std::uintptr_t>(held.kernel.handle());
        return "<" + type_label(self) + " kernel=" +
               (compatibility::keeps_reprs_short() ? hex_text(kernel)
                                                   : repr_text(nb::cast(held.kernel.name()))) +
               (held.device ? " device=" + std::to_string(held.device->ordinal()) : "") + ">";
    });
    using enum KernelAttribute;
    bind_number<MaxThreadsPerBlock>(type, "max_threads_per_block");
    bind_number<SharedSizeBytes>(type, "shared_size_bytes");
    bind_number<ConstSizeBytes>(type, "const_size_bytes");
    bind_number<LocalSizeBytes>(type, "local_size_bytes");
    bind_number<NumRegs>(type, "num_regs");
    bind_number<PtxVersion>(type, "ptx_version");
    bind_number<BinaryVersion>(type, "binary_version");
    bind_flag<CacheModeCa>(type, "cache_mode_ca");
    bind_settable<MaxDynamicSharedSizeBytes>(type, "max_dynamic_shared_size_bytes");
    bind_settable<PreferredSharedMemoryCarveout>(type, "preferred_shared_memory_carveout");
    bind_flag<ClusterSizeMustBeSet>(type, "cluster_size_must_be_set");
    bind_settable<RequiredClusterWidth>(type, "required_cluster_width");
    bind_settable<RequiredClusterHeight>(type, "required_cluster_height");
    bind_settable<RequiredClusterDepth>(type, "required_cluster_depth");
    type.property(
        "non_portable_cluster_size_allowed",
        [](const PyKernelAttributes& self) {
            return self.read(NonPortableClusterSizeAllowed) != 0;
        },
        [](const PyKernelAttributes& self, bool value) {
            self.write(NonPortableClusterSizeAllowed, value ? 1 : 0);
        });
    bind_settable<ClusterSchedulingPolicyPreference>(type, "cluster_scheduling_policy_preference");
    kernel.property("attributes",
                    [](const PyKernel& self) { return make<PyKernelAttributes>(self); });
}

} // namespace cuprum::python
