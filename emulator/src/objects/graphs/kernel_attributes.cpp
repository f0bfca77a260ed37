// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/kernel_attributes.hpp"

#include "objects/process/error.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace cuprum::emulator {

namespace {

/// The launch attributes that kernel nodes have.
constexpr std::array NODE_ATTRIBUTES{CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                                     CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                     CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                     CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                                     CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                     CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
                                     CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
                                     CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                                     CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                                     CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                     CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING};

void check_known(CUkernelNodeAttrID attribute) {
    if (std::ranges::find(NODE_ATTRIBUTES, attribute) == NODE_ATTRIBUTES.end()) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "kernel nodes have no attribute " + std::to_string(attribute));
    }
}

} // namespace

CUkernelNodeAttrValue attribute_of(const KernelParameters& parameters,
                                   CUkernelNodeAttrID attribute) {
    check_known(attribute);
    const auto found = parameters.attributes.find(attribute);
    if (found != parameters.attributes.end()) {
        return found->second;
    }
    CUkernelNodeAttrValue value{};
    if (attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) {
        value.memSyncDomainMap = {0, 1};
    }
    return value;
}

void set_attribute(KernelParameters& parameters, CUkernelNodeAttrID attribute,
                   const CUkernelNodeAttrValue& value) {
    check_known(attribute);
    if (attribute == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) {
        if (value.deviceUpdatableKernelNode.deviceUpdatable != 0) {
            fail(CUDA_ERROR_NOT_SUPPORTED, "kernel nodes that kernels update are not supported by "
                                           "the emulated device");
        }
        return;
    }
    if (attribute == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE) {
        parameters.attributes[attribute] = value; // NVIDIA's driver takes any
        return;
    }
    CUlaunchAttribute checked{};
    checked.id = attribute;
    checked.value = value;
    LaunchRequest request;
    apply_attributes(request, {&checked, 1});
    parameters.attributes[attribute] = value;
}

} // namespace cuprum::emulator
