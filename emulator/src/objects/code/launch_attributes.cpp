// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/launch_attributes.hpp"

#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"

#include <string>

namespace cuprum::emulator {

namespace {

/// Throws unless a number lies in a range.
void check_range(const char* what, long long value, long long least, long long most) {
    if (value < least || value > most) {
        fail(CUDA_ERROR_INVALID_VALUE, std::string(what) + " is " + std::to_string(value) +
                                           ": expected " + std::to_string(least) + " to " +
                                           std::to_string(most));
    }
}

/// Returns an attribute of the devices, which all have the same ones.
int device_attribute(CUdevice_attribute attribute) {
    return device_at(0).attribute(attribute);
}

void check_window(const CUaccessPolicyWindow& window) {
    require(window.hitRatio >= 0 && window.hitRatio <= 1, "the hit ratio is from 0 to 1");
    require(window.missProp != CU_ACCESS_PROPERTY_PERSISTING,
            "accesses that miss cannot be CU_ACCESS_PROPERTY_PERSISTING");
    const auto most = static_cast<std::size_t>(
        device_attribute(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE));
    if (window.num_bytes > most) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "the window of the access policy has " + std::to_string(window.num_bytes) +
                 " bytes, more than CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, " +
                 std::to_string(most));
    }
}

} // namespace

void check_cluster_policy(CUclusterSchedulingPolicy policy) {
    check_range("the scheduling policy of clusters", policy, CU_CLUSTER_SCHEDULING_POLICY_DEFAULT,
                CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
}

void check_attribute_value(CUlaunchAttributeID attribute, const CUlaunchAttributeValue& value) {
    switch (attribute) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        check_window(value.accessPolicyWindow);
        break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        check_range("the synchronisation policy", value.syncPolicy, CU_SYNC_POLICY_AUTO,
                    CU_SYNC_POLICY_BLOCKING_SYNC);
        break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        check_cluster_policy(value.clusterSchedulingPolicyPreference);
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: {
        const int last = device_attribute(CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT) - 1;
        check_range("the default memory domain", value.memSyncDomainMap.default_, 0, last);
        check_range("the remote memory domain", value.memSyncDomainMap.remote, 0, last);
        break;
    }
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        check_range("the memory synchronisation domain", value.memSyncDomain,
                    CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
        break;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        check_range("the carveout in percent", value.sharedMemCarveout, 0, 100);
        break;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        check_range("nvlinkUtilCentricScheduling", value.nvlinkUtilCentricScheduling, 0, 1);
        break;
    default:
        break;
    }
}

} // namespace cuprum::emulator
