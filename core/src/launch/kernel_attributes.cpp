// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "launch/kernel_state.hpp"

#include <cuprum/error.hpp>
#include <cuprum/kernel.hpp>

#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

static_assert(static_cast<int>(KernelAttribute::ClusterSchedulingPolicyPreference) ==
              CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);

[[nodiscard]] CUdevice handle_of(const Device& device);
[[nodiscard]] const char* name_of(KernelAttribute attribute);
/// Returns the values that an attribute can be set to, in words; empty if it cannot be set.
[[nodiscard]] std::string settable_values(KernelAttribute attribute, const Kernel& kernel,
                                          const Device& device);

} // namespace

KernelAttributes Kernel::attributes(const Device& device) const {
    const auto get = [&](KernelAttribute name) { return attribute(name, device); };
    // Drivers before those with clusters do not know the attributes about them.
    const auto get_or = [&](KernelAttribute name, int fallback) {
        try {
            return attribute(name, device);
        } catch (const CUDAError& error) {
            if (error.code() != CUDA_ERROR_INVALID_VALUE) {
                throw;
            }
            return fallback;
        }
    };
    return {
        .max_threads_per_block = get(KernelAttribute::MaxThreadsPerBlock),
        .shared_size_bytes = get(KernelAttribute::SharedSizeBytes),
        .const_size_bytes = get(KernelAttribute::ConstSizeBytes),
        .local_size_bytes = get(KernelAttribute::LocalSizeBytes),
        .num_regs = get(KernelAttribute::NumRegs),
        .ptx_version = get(KernelAttribute::PtxVersion),
        .binary_version = get(KernelAttribute::BinaryVersion),
        .cache_mode_ca = get(KernelAttribute::CacheModeCa) != 0,
        .max_dynamic_shared_size_bytes = get(KernelAttribute::MaxDynamicSharedSizeBytes),
        .preferred_shared_memory_carveout = get(KernelAttribute::PreferredSharedMemoryCarveout),
        .cluster_size_must_be_set = get_or(KernelAttribute::ClusterSizeMustBeSet, 0) != 0,
        .required_cluster_width = get_or(KernelAttribute::RequiredClusterWidth, 0),
        .required_cluster_height = get_or(KernelAttribute::RequiredClusterHeight, 0),
        .required_cluster_depth = get_or(KernelAttribute::RequiredClusterDepth, 0),
        .non_portable_cluster_size_allowed =
            get_or(KernelAttribute::NonPortableClusterSizeAllowed, 0) != 0,
        .cluster_scheduling_policy_preference = static_cast<ClusterSchedulingPolicy>(
            get_or(KernelAttribute::ClusterSchedulingPolicyPreference, 0)),
    };
}

int Kernel::attribute(KernelAttribute attribute, const Device& device) const {
    int value = 0;
    driver::call(driver::table().cuKernelGetAttribute, &value,
                 static_cast<CUfunction_attribute>(attribute), handle(), handle_of(device));
    return value;
}

void Kernel::set_attribute(KernelAttribute attribute, int value, const Device& device) const {
    const detail::KernelState& kernel = detail::open(state_, "Kernel");
    const auto& set = driver::table().cuKernelSetAttribute;
    const CUresult status =
        set(static_cast<CUfunction_attribute>(attribute), value, kernel.handle, handle_of(device));
    kernel.forget_allowed();
    detail::forget_occupancy();
    if (status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_NOT_SUPPORTED) {
        const std::string values = settable_values(attribute, *this, device);
        throw std::invalid_argument(
            std::string(name_of(attribute)) + " is " + std::to_string(value) + " for kernel \"" +
            name() + "\" on device " + std::to_string(device.ordinal()) +
            (values.empty() ? ", but it cannot be set" : "; expected " + values));
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, set.name);
    }
}

void Kernel::set_max_dynamic_shared_size_bytes(const Device& device, int bytes) const {
    set_attribute(KernelAttribute::MaxDynamicSharedSizeBytes, bytes, device);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

CUdevice handle_of(const Device& device) {
    return detail::devices()[static_cast<std::size_t>(device.ordinal())]->handle;
}

const char* name_of(KernelAttribute attribute) {
    switch (attribute) {
    case KernelAttribute::MaxDynamicSharedSizeBytes:
        return "max_dynamic_shared_size_bytes";
    case KernelAttribute::PreferredSharedMemoryCarveout:
        return "preferred_shared_memory_carveout";
    case KernelAttribute::RequiredClusterWidth:
        return "required_cluster_width";
    case KernelAttribute::RequiredClusterHeight:
        return "required_cluster_height";
    case KernelAttribute::RequiredClusterDepth:
        return "required_cluster_depth";
    case KernelAttribute::NonPortableClusterSizeAllowed:
        return "non_portable_cluster_size_allowed";
    case KernelAttribute::ClusterSchedulingPolicyPreference:
        return "cluster_scheduling_policy_preference";
    default:
        return "the attribute";
    }
}

std::string settable_values(KernelAttribute attribute, const Kernel& kernel, const Device& device) {
    switch (attribute) {
    case KernelAttribute::MaxDynamicSharedSizeBytes: {
        const int limit = device.properties().max_shared_memory_per_block_optin();
        const int declared = kernel.attribute(KernelAttribute::SharedSizeBytes, device);
        return "0 to " + std::to_string(limit - declared) + ": what a block may have there, " +
               std::to_string(limit) + " bytes, less what the kernel declares";
    }
    case KernelAttribute::PreferredSharedMemoryCarveout:
        return "0 to 100 percent, or -1 for the driver's choice";
    case KernelAttribute::RequiredClusterWidth:
    case KernelAttribute::RequiredClusterHeight:
    case KernelAttribute::RequiredClusterDepth:
        return "at least 0, for a kernel that was compiled without a cluster size";
    case KernelAttribute::NonPortableClusterSizeAllowed:
        return "0 or 1";
    case KernelAttribute::ClusterSchedulingPolicyPreference:
        return "0 (default), 1 (spread) or 2 (load balancing)";
    default:
        return {};
    }
}

} // namespace

} // namespace cuprum
