// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Enumerations, which Python passes as strings.

#pragma once

#include "support/arguments.hpp"

#include <cuprum/context_settings.hpp>
#include <cuprum/device.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/stream_attributes.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace cuprum::python {

/// One value of an enumeration and its name.
template <typename Value>
struct Choice {
    std::string_view name;
    Value value;
};

/// An enumeration and its class in cuprum.typing.
template <typename Value, std::size_t Count>
struct Choices {
    const char* type;
    std::array<Choice<Value>, Count> all;

    /// Returns the value that a str names; `argument` is what the caller calls it.
    /// @throws ValueError listing the names, TypeError for anything but a str.
    [[nodiscard]] Value parse(nb::handle text, const char* argument) const {
        const std::string wanted = text_argument(text, argument);
        std::string expected;
        for (const auto& choice : all) {
            if (choice.name == wanted) {
                return choice.value;
            }
            expected += (expected.empty() ? "'" : ", '") + std::string(choice.name) + "'";
        }
        raise_error(PyExc_ValueError,
                    std::string(argument) + " is '" + wanted + "', expected one of " + expected);
    }

    /// Returns the member of the class in cuprum.typing; a value that we do not know as an int.
    [[nodiscard]] nb::object member(Value value) const {
        for (const auto& choice : all) {
            if (choice.value == value) {
                return nb::module_::import_("cuprum.typing")
                    .attr(type)(nb::str(choice.name.data(), choice.name.size()));
            }
        }
        return nb::int_(static_cast<long long>(value));
    }
};

inline constexpr Choices<Limit, 10> LIMITS{
    "LimitType",
    {{{"stack_size", Limit::StackSize},
      {"printf_fifo_size", Limit::PrintfFifoSize},
      {"malloc_heap_size", Limit::MallocHeapSize},
      {"dev_runtime_sync_depth", Limit::DevRuntimeSyncDepth},
      {"dev_runtime_pending_launch_count", Limit::DevRuntimePendingLaunchCount},
      {"max_l2_fetch_granularity", Limit::MaxL2FetchGranularity},
      {"persisting_l2_cache_size", Limit::PersistingL2CacheSize},
      {"shmem_size", Limit::ShmemSize},
      {"cig_enabled", Limit::CigEnabled},
      {"cig_shmem_fallback_enabled", Limit::CigShmemFallbackEnabled}}}};

inline constexpr Choices<CacheConfig, 4> CACHE_CONFIGS{
    "CacheConfigType",
    {{{"none", CacheConfig::None},
      {"prefer_shared", CacheConfig::PreferShared},
      {"prefer_l1", CacheConfig::PreferL1},
      {"prefer_equal", CacheConfig::PreferEqual}}}};

inline constexpr Choices<HostWait, 4> HOST_WAITS{"HostWaitType",
                                                 {{{"auto", HostWait::Auto},
                                                   {"spin", HostWait::Spin},
                                                   {"yield", HostWait::Yield},
                                                   {"blocking", HostWait::Blocking}}}};

inline constexpr Choices<P2PAttribute, 4> P2P_ATTRIBUTES{
    "P2PAttributeType",
    {{{"performance_rank", P2PAttribute::PerformanceRank},
      {"access_supported", P2PAttribute::AccessSupported},
      {"native_atomic_supported", P2PAttribute::NativeAtomicSupported},
      {"cuda_array_access_supported", P2PAttribute::CudaArrayAccessSupported}}}};

inline constexpr Choices<WaitCondition, 4> WAIT_CONDITIONS{
    "WaitConditionType",
    {{{"greater_or_equal", WaitCondition::GreaterOrEqual},
      {"equal", WaitCondition::Equal},
      {"and", WaitCondition::And},
      {"nor", WaitCondition::Nor}}}};

inline constexpr Choices<SynchronizationPolicy, 4> SYNCHRONIZATION_POLICIES{
    "SynchronizationPolicyType",
    {{{"auto", SynchronizationPolicy::Auto},
      {"spin", SynchronizationPolicy::Spin},
      {"yield", SynchronizationPolicy::Yield},
      {"blocking", SynchronizationPolicy::Blocking}}}};

inline constexpr Choices<MemorySyncDomain, 2> MEMORY_SYNC_DOMAINS{
    "MemorySyncDomainType",
    {{{"default", MemorySyncDomain::Default}, {"remote", MemorySyncDomain::Remote}}}};

inline constexpr Choices<AccessProperty, 3> ACCESS_PROPERTIES{
    "AccessPropertyType",
    {{{"normal", AccessProperty::Normal},
      {"streaming", AccessProperty::Streaming},
      {"persisting", AccessProperty::Persisting}}}};

inline constexpr Choices<WorkqueueSharingScope, 2> WORKQUEUE_SHARING_SCOPES{
    "WorkqueueSharingScopeType",
    {{{"device_ctx", WorkqueueSharingScope::DeviceContext},
      {"green_ctx_balanced", WorkqueueSharingScope::GreenContextBalanced}}}};

} // namespace cuprum::python
