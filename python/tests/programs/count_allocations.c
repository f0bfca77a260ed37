// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Counts the allocations of the calling thread. If it is preloaded, it replaces the C library's
// allocator. If CUPRUM_DRIVER names it, it wraps the driver that COUNTED_DRIVER names, so that
// allocations of the driver in a launch are not counted.

#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* memory, size_t bytes);
extern void* __libc_memalign(size_t alignment, size_t bytes);

static _Thread_local unsigned long allocations;
static _Thread_local int in_driver;

unsigned long allocation_count(void) {
    return allocations;
}

void* malloc(size_t bytes) {
    allocations += !in_driver;
    return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
    allocations += !in_driver;
    return __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes) {
    allocations += !in_driver;
    return __libc_realloc(memory, bytes);
}

void* memalign(size_t alignment, size_t bytes) {
    allocations += !in_driver;
    return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
    return memalign(alignment, bytes);
}

int posix_memalign(void** memory, size_t alignment, size_t bytes) {
    *memory = memalign(alignment, bytes);
    return *memory == NULL ? ENOMEM : 0;
}

// ---- the driver --------------------------------------------------------------------------------

typedef int (*GetProcAddress)(const char* name, void** function, int version,
                              unsigned long long flags, int* found);
typedef int (*Launch)(const void* config, void* function, void** arguments, void** extra);

static Launch real_launch;

static void* find(const char* name) {
    return dlsym(dlopen(getenv("COUNTED_DRIVER"), RTLD_NOW), name);
}

static int launch(const void* config, void* function, void** arguments, void** extra) {
    in_driver = 1;
    const int status = real_launch(config, function, arguments, extra);
    in_driver = 0;
    return status;
}

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long long flags,
                        int* found) {
    const GetProcAddress get = (GetProcAddress)find("cuGetProcAddress_v2");
    const int status = get(name, function, version, flags, found);
    if (status == 0 && *function != NULL && strcmp(name, "cuLaunchKernelEx") == 0) {
        real_launch = (Launch)*function;
        *function = (void*)launch;
    }
    return status;
}

int cuDriverGetVersion(int* version) {
    return ((int (*)(int*))find("cuDriverGetVersion"))(version);
}
