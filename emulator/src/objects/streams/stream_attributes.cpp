// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The attributes of a stream that programs can read and set.

#include "objects/code/launch_attributes.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/stream.hpp"

#include <algorithm>
#include <string>

namespace cuprum::emulator {

namespace {

[[noreturn]] void refuse(CUstreamAttrID attribute) {
    fail(CUDA_ERROR_INVALID_VALUE,
         "attribute " + std::to_string(attribute) + " is not one of streams");
}

} // namespace

void Stream::set_priority(int priority) noexcept {
    priority_.store(std::clamp(priority, GREATEST_PRIORITY, LEAST_PRIORITY),
                    std::memory_order_relaxed);
}

CUstreamAttrValue Stream::attribute(CUstreamAttrID attribute) {
    CUstreamAttrValue value{};
    const std::lock_guard lock(mutex_);
    switch (attribute) {
    case CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        value.accessPolicyWindow = access_policy_;
        return value;
    case CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        value.syncPolicy = synchronization_policy_;
        return value;
    case CU_STREAM_ATTRIBUTE_PRIORITY:
        value.priority = priority();
        return value;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        value.memSyncDomainMap = domain_map_;
        return value;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN:
        value.memSyncDomain = domain_;
        return value;
    default:
        refuse(attribute);
    }
}

void Stream::set_attribute(CUstreamAttrID attribute, const CUstreamAttrValue& value) {
    check_attribute_value(attribute, value);
    const std::lock_guard lock(mutex_);
    switch (attribute) {
    case CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        access_policy_ = value.accessPolicyWindow;
        return;
    case CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        synchronization_policy_ = value.syncPolicy;
        return;
    case CU_STREAM_ATTRIBUTE_PRIORITY:
        set_priority(value.priority);
        return;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        domain_map_ = value.memSyncDomainMap;
        return;
    case CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN:
        domain_ = value.memSyncDomain;
        return;
    default:
        refuse(attribute);
    }
}

void Stream::copy_attributes(Stream& other) {
    for (const auto attribute :
         {CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY,
          CU_STREAM_ATTRIBUTE_PRIORITY, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
          CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN}) {
        set_attribute(attribute, other.attribute(attribute));
    }
}

} // namespace cuprum::emulator
