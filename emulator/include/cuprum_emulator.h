/*
 * SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
 * SPDX-License-Identifier: Apache-2.0
 */

/*
 * Functions of the emulated driver beyond CUDA's driver API. Get them with dlsym, or with
 * cuGetProcAddress under the same names. A driver without these functions is not emulated.
 */

#ifndef CUPRUM_EMULATOR_H
#define CUPRUM_EMULATOR_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How many objects of each kind are alive in the process. */
typedef struct CuprumLiveCounts {
    size_t struct_size; /**< set by the caller to sizeof(CuprumLiveCounts) */
    size_t contexts;
    size_t streams; /**< created by the program; default streams do not count */
    size_t events;
    size_t device_allocations; /**< device and managed memory, arrays; without pooled memory */
    size_t pool_allocations;
    size_t host_allocations; /**< pinned and registered memory */
    size_t pools;            /**< created by the program; default pools do not count */
    size_t modules;          /**< modules that libraries create internally do not count */
    size_t libraries;
    size_t physical_allocations; /**< created by cuMemCreate */
    size_t graphics_objects;     /**< graphics resources, external memory and semaphores */
} CuprumLiveCounts;

/** Counts the live objects. Returns 0, or 1 if `counts` is NULL or its size is unknown. */
int cuprumEmulatorLiveObjects(CuprumLiveCounts* counts);

/**
 * Tells the check `initialized` that the host has written device memory by itself, at its address.
 * Does nothing if the check is off.
 */
void cuprumEmulatorMarkWritten(const void* address, size_t bytes);

/** Returns the emulator's version, such as "0.1.0". */
const char* cuprumEmulatorVersion(void);

/** One exported name of the driver API. */
typedef struct CuprumFunction {
    const char* symbol;  /**< such as "cuMemAlloc_v2" */
    const char* name;    /**< such as "cuMemAlloc" */
    int version;         /**< the CUDA version that added it, such as 3020 */
    int is_per_thread;   /**< 1 if NULL is the calling thread's own default stream for it */
    const char* missing; /**< why it is refused; NULL if it is implemented */
} CuprumFunction;

/** Describes an exported name by its index. Returns 0, or 1 if there are not so many. */
int cuprumEmulatorFunction(size_t index, CuprumFunction* function);

/** Returns 1 if an exported name, such as "cuMemAlloc_v2", is implemented, 0 if it is refused. */
int cuprumEmulatorIsImplemented(const char* symbol);

#ifdef __cplusplus
}
#endif

#endif
