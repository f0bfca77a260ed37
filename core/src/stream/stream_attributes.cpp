// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Values in memory and attributes of streams.

#include <cuprum/stream_attributes.hpp>

#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "stream/stream_state.hpp"

#include <cuprum/stream.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

template <typename Read>
auto read_attribute(CUstream stream, CUstreamAttrID which, Read read) {
    CUstreamAttrValue value{};
    call(table().cuStreamGetAttribute, stream, which, &value);
    return read(value);
}

template <typename Write>
void write_attribute(CUstream stream, CUstreamAttrID which, Write write) {
    CUstreamAttrValue value{};
    write(value);
    call(table().cuStreamSetAttribute, stream, which,
         static_cast<const CUstreamAttrValue*>(&value));
}

void check_alignment(CUdeviceptr address, std::size_t size) {
    if (address % size != 0) {
        throw std::invalid_argument("address is " + std::to_string(address) +
                                    ", expected a multiple of " + std::to_string(size) +
                                    ", the size of the value");
    }
}

unsigned write_flags(const WriteValueOptions& options) {
    return options.memory_barrier ? unsigned{CU_STREAM_WRITE_VALUE_DEFAULT}
                                  : unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER};
}

unsigned wait_flags(const WaitValueOptions& options) {
    return static_cast<unsigned>(options.condition) |
           (options.flush ? unsigned{CU_STREAM_WAIT_VALUE_FLUSH} : 0U);
}

} // namespace

std::uint64_t Stream::id() const {
    unsigned long long id = 0;
    call(table().cuStreamGetId, detail::handle_of(*this), &id);
    return id;
}

void Stream::write_value(CUdeviceptr address, std::uint32_t value,
                         const WriteValueOptions& options) const {
    check_alignment(address, sizeof(value));
    call(table().cuStreamWriteValue32, detail::handle_of(*this), address, value,
         write_flags(options));
}

void Stream::write_value(CUdeviceptr address, std::uint64_t value,
                         const WriteValueOptions& options) const {
    check_alignment(address, sizeof(value));
    call(table().cuStreamWriteValue64, detail::handle_of(*this), address, cuuint64_t{value},
         write_flags(options));
}

void Stream::wait_value(CUdeviceptr address, std::uint32_t value,
                        const WaitValueOptions& options) const {
    check_alignment(address, sizeof(value));
    call(table().cuStreamWaitValue32, detail::handle_of(*this), address, value,
         wait_flags(options));
}

void Stream::wait_value(CUdeviceptr address, std::uint64_t value,
                        const WaitValueOptions& options) const {
    check_alignment(address, sizeof(value));
    call(table().cuStreamWaitValue64, detail::handle_of(*this), address, cuuint64_t{value},
         wait_flags(options));
}

void Stream::set_priority(int priority) const {
    const detail::StreamState& stream = detail::open(state_, "Stream");
    const int checked =
        detail::checked_priority(*detail::context_state_of(stream)->device, priority);
    write_attribute(stream.handle, CU_LAUNCH_ATTRIBUTE_PRIORITY,
                    [&](CUstreamAttrValue& value) { value.priority = checked; });
}

SynchronizationPolicy Stream::synchronization_policy() const {
    return read_attribute(detail::handle_of(*this), CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                          [](const CUstreamAttrValue& value) {
                              return static_cast<SynchronizationPolicy>(value.syncPolicy);
                          });
}

void Stream::set_synchronization_policy(SynchronizationPolicy policy) const {
    write_attribute(detail::handle_of(*this), CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                    [&](CUstreamAttrValue& value) {
                        value.syncPolicy = static_cast<CUsynchronizationPolicy>(policy);
                    });
}

MemorySyncDomain Stream::memory_sync_domain() const {
    return read_attribute(detail::handle_of(*this), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
                          [](const CUstreamAttrValue& value) {
                              return static_cast<MemorySyncDomain>(value.memSyncDomain);
                          });
}

void Stream::set_memory_sync_domain(MemorySyncDomain domain) const {
    write_attribute(detail::handle_of(*this), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
                    [&](CUstreamAttrValue& value) {
                        value.memSyncDomain = static_cast<CUlaunchMemSyncDomain>(domain);
                    });
}

MemorySyncDomainMap Stream::memory_sync_domain_map() const {
    return read_attribute(detail::handle_of(*this), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
                          [](const CUstreamAttrValue& value) {
                              return MemorySyncDomainMap{value.memSyncDomainMap.default_,
                                                         value.memSyncDomainMap.remote};
                          });
}

void Stream::set_memory_sync_domain_map(const MemorySyncDomainMap& map) const {
    write_attribute(detail::handle_of(*this), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
                    [&](CUstreamAttrValue& value) {
                        value.memSyncDomainMap = {map.default_domain, map.remote_domain};
                    });
}

AccessPolicyWindow Stream::access_policy_window() const {
    return read_attribute(detail::handle_of(*this), CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                          [](const CUstreamAttrValue& value) {
                              const CUaccessPolicyWindow& window = value.accessPolicyWindow;
                              return AccessPolicyWindow{
                                  .base = reinterpret_cast<CUdeviceptr>(window.base_ptr),
                                  .bytes = window.num_bytes,
                                  .hit_ratio = window.hitRatio,
                                  .hit = static_cast<AccessProperty>(window.hitProp),
                                  .miss = static_cast<AccessProperty>(window.missProp)};
                          });
}

void Stream::set_access_policy_window(const AccessPolicyWindow& window) const {
    // The negation also catches what is not a number.
    if (!(window.hit_ratio >= 0.0F && window.hit_ratio <= 1.0F)) {
        throw std::invalid_argument("hit_ratio is " + std::to_string(window.hit_ratio) +
                                    ", expected 0 to 1");
    }
    if (window.miss == AccessProperty::Persisting) {
        throw std::invalid_argument("miss is Persisting, expected Normal or Streaming");
    }
    write_attribute(detail::handle_of(*this), CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
                    [&](CUstreamAttrValue& value) {
                        value.accessPolicyWindow = {
                            .base_ptr = reinterpret_cast<void*>(window.base),
                            .num_bytes = window.bytes,
                            .hitRatio = window.hit_ratio,
                            .hitProp = static_cast<CUaccessProperty>(window.hit),
                            .missProp = static_cast<CUaccessProperty>(window.miss)};
                    });
}

void Stream::copy_attributes_from(const Stream& other) const {
    call(table().cuStreamCopyAttributes, detail::handle_of(*this), detail::handle_of(other));
}

} // namespace cuprum
