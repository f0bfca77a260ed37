// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum {

/// A limit of a context. Values are bytes unless the name says otherwise.
enum class Limit {
    StackSize = 0,                    // per thread of a kernel
    PrintfFifoSize = 1,               // what kernels may print before it is lost
    MallocHeapSize = 2,               // of malloc() in kernels
    DevRuntimeSyncDepth = 3,          // levels of kernels that wait for kernels they launched
    DevRuntimePendingLaunchCount = 4, // launches by kernels that have not begun
    MaxL2FetchGranularity = 5,        // a hint, 0 to 128
    PersistingL2CacheSize = 6,        // set aside for accesses that ask for it
    ShmemSize = 7,                    // on a context shared with graphics; read only
    CigEnabled = 8,                   // whether the context is shared with graphics; read only
    CigShmemFallbackEnabled = 9,      // whether a kernel may exceed ShmemSize, slowly
};

/// How the memory that L1 cache and shared memory have in common is divided; a preference.
enum class CacheConfig {
    None = 0,
    PreferShared = 1,
    PreferL1 = 2,
    PreferEqual = 3,
};

/// How a thread waits for the device.
enum class HostWait {
    Auto = 0,     // spins if there are more processors than contexts, else yields
    Spin = 1,     // fastest, takes a whole processor
    Yield = 2,    // lets other threads run
    Blocking = 4, // sleeps
};

/// How a context behaves.
struct ContextFlags {
    HostWait wait = HostWait::Auto;
    bool map_host = false;               // allow mapped pinned memory; always so since CUDA 3.2
    bool resize_local_memory = false;    // keep local memory at its largest size so far
    bool coredump_on_error = false;      // write a GPU core dump when a kernel fails
    bool user_coredump = false;          // write one when the user asks for it through a pipe
    bool sync_memory_operations = false; // copies that may return early do not
    friend bool operator==(const ContextFlags&, const ContextFlags&) = default;
};

} // namespace cuprum
