// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum {

/// A limit of a context. Values are bytes unless the name says otherwise.
enum class Limit {
    StackSize = 0,                    // per thread of a kernel
    PrintfFifoSize = 1,               // buffer of printf() in kernels; more output is lost
    MallocHeapSize = 2,               // heap of malloc() in kernels
    DevRuntimeSyncDepth = 3,          // nesting of kernels that wait for kernels they launched
    DevRuntimePendingLaunchCount = 4, // launches by kernels that are still pending
    MaxL2FetchGranularity = 5,        // a hint, 0 to 128
    PersistingL2CacheSize = 6,        // reserved for persisting accesses
    ShmemSize = 7,                    // of a context shared with graphics; read-only
    CigEnabled = 8,                   // whether the context is shared with graphics; read-only
    CigShmemFallbackEnabled = 9,      // whether a kernel may exceed ShmemSize, slowly
};

/// How to divide the memory that L1 cache and shared memory have in common. A preference.
enum class CacheConfig {
    None = 0,
    PreferShared = 1,
    PreferL1 = 2,
    PreferEqual = 3,
};

/// How a thread waits for the device.
enum class HostWait {
    Auto = 0,     // spins if there are more processors than contexts, else yields
    Spin = 1,     // responds fastest, occupies a processor
    Yield = 2,    // lets other threads run
    Blocking = 4, // sleeps
};

/// The flags of a context.
struct ContextFlags {
    HostWait wait = HostWait::Auto;      // how threads wait for the device
    bool map_host = false;               // allow mapped pinned memory; always on since CUDA 3.2
    bool resize_local_memory = false;    // keep local memory at its largest size so far
    bool coredump_on_error = false;      // write a GPU core dump when a kernel fails
    bool user_coredump = false;          // write one when the user requests it through a pipe
    bool sync_memory_operations = false; // copies return only when they are done
    friend bool operator==(const ContextFlags&, const ContextFlags&) = default;
};

} // namespace cuprum
