// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>

#include <cstddef>

namespace cuprum {

/// The condition that ends a wait for a value in memory.
enum class WaitCondition {
    GreaterOrEqual = 0, // word - value >= 0 as signed numbers, so that counters may wrap round
    Equal = 1,
    And = 2, // (word & value) != 0
    Nor = 3, // ~(word | value) != 0
};

/// How a stream waits for a value in memory.
struct WaitValueOptions {
    WaitCondition condition = WaitCondition::GreaterOrEqual; // what ends the wait
    bool flush = false; // also wait for writes of other devices that arrived before the value
};

/// How a stream writes a value to memory.
struct WriteValueOptions {
    bool memory_barrier = true; // earlier writes of the stream are visible before the value is
};

/// How threads wait for a stream.
enum class SynchronizationPolicy {
    Auto = 1,     // as the context says
    Spin = 2,     // responds fastest, occupies a processor
    Yield = 3,    // lets other threads run
    Blocking = 4, // sleeps
};

/// Which writes a fence of a kernel waits for; kernels of different domains do not wait for each
/// other's.
enum class MemorySyncDomain {
    Default = 0,
    Remote = 1, // for kernels that write to other devices
};

/// The hardware's domains that the two logical ones stand for; less than the device attribute
/// mem_sync_domain_count.
struct MemorySyncDomainMap {
    unsigned char default_domain = 0; // of MemorySyncDomain::Default
    unsigned char remote_domain = 1;  // of MemorySyncDomain::Remote
    friend bool operator==(const MemorySyncDomainMap&, const MemorySyncDomainMap&) = default;
};

/// What the L2 cache does with accesses.
enum class AccessProperty {
    Normal = 0,
    Streaming = 1,  // is evicted first
    Persisting = 2, // is evicted last; see Limit::PersistingL2CacheSize
};

/// A range of memory whose accesses are cached in a certain way.
struct AccessPolicyWindow {
    CUdeviceptr base = 0;                         // where the range begins
    std::size_t bytes = 0;                        // 0: no window
    float hit_ratio = 0.0F;                       // the share of the range that gets `hit`, 0 to 1
    AccessProperty hit = AccessProperty::Normal;  // for that share of the range
    AccessProperty miss = AccessProperty::Normal; // not Persisting
    friend bool operator==(const AccessPolicyWindow&, const AccessPolicyWindow&) = default;
};

} // namespace cuprum
