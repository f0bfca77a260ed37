// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A program with one bug, which its argument selects, for the tests of source locations in reports.
// Each driver call has its own function, whose name the report should contain.

#include <cuda.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#define NOINLINE __attribute__((noinline))

namespace {

constexpr const char* KERNELS = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry write(.param .u64 p, .param .u32 i)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [i];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], 7;
    ret;
}
.visible .entry read(.param .u64 p, .param .u32 i)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [i];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    add.u32 %r3, %r2, 1;
    st.global.u32 [%rd1], %r3;
    ret;
}
)";

void* library = nullptr;
CUmodule module = nullptr;

template <typename Function>
Function* find(const char* name) {
    void* const address = ::dlsym(library, name);
    if (address == nullptr) {
        std::fprintf(stderr, "not exported: %s\n", name);
        std::exit(3);
    }
    return reinterpret_cast<Function*>(address);
}

#define TEXT(name) #name
#define EXPANDED(name) TEXT(name)
#define CU(function) (*find<decltype(function)>(EXPANDED(function)))

void check(CUresult result) {
    if (result != CUDA_SUCCESS) {
        std::exit(2);
    }
}

} // namespace

NOINLINE CUdeviceptr allocate_weights(std::size_t bytes) {
    CUdeviceptr memory = 0;
    check(CU(cuMemAlloc)(&memory, bytes));
    return memory;
}

NOINLINE void release_weights(CUdeviceptr memory) {
    check(CU(cuMemFree)(memory));
}

// Not exported and not even global, so the loader does not know it.
static NOINLINE CUdeviceptr allocate_from_pool(CUstream stream) {
    CUdeviceptr memory = 0;
    check(CU(cuMemAllocAsync)(&memory, 200, stream));
    return memory;
}

NOINLINE void* pin_staging() {
    void* memory = nullptr;
    check(CU(cuMemHostAlloc)(&memory, 300, 0));
    return memory;
}

NOINLINE CUdeviceptr share_with_host() {
    CUdeviceptr memory = 0;
    check(CU(cuMemAllocManaged)(&memory, 400, CU_MEM_ATTACH_GLOBAL));
    return memory;
}

NOINLINE CUdeviceptr map_range() {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    std::size_t bytes = 0;
    check(CU(cuMemGetAllocationGranularity)(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CUmemGenericAllocationHandle physical = 0;
    CUdeviceptr range = 0;
    check(CU(cuMemCreate)(&physical, bytes, &properties, 0));
    check(CU(cuMemAddressReserve)(&range, bytes, 0, 0, 0));
    check(CU(cuMemMap)(range, bytes, 0, physical, 0));
    return range;
}

NOINLINE CUstream open_stream() {
    CUstream stream = nullptr;
    check(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

NOINLINE CUevent make_event() {
    CUevent event = nullptr;
    check(CU(cuEventCreate)(&event, 0));
    return event;
}

NOINLINE int launch_step(const char* kernel, CUdeviceptr memory, unsigned index) {
    CUfunction function = nullptr;
    void* arguments[] = {&memory, &index};
    check(CU(cuModuleGetFunction)(&function, module, kernel));
    check(CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    return CU(cuCtxSynchronize)() == CUDA_SUCCESS ? 0 : 7;
}

NOINLINE void leak_everything() {
    const CUstream stream = open_stream();
    make_event();
    allocate_weights(100);
    allocate_from_pool(stream);
    pin_staging();
    share_with_host();
    map_range();
}

/// Allocates and frees many times from the same two places, to measure the cost.
NOINLINE void repeat(int times) {
    for (int i = 0; i < times; ++i) {
        release_weights(allocate_weights(100));
    }
}

int main(int count, char** arguments) {
    const std::string bug = count < 3 ? "" : arguments[2];
    library = bug.empty() ? nullptr : ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        return 1;
    }
    CUcontext context = nullptr;
    check(CU(cuInit)(0));
    check(CU(cuDevicePrimaryCtxRetain)(&context, 0));
    check(CU(cuCtxSetCurrent)(context));
    check(CU(cuModuleLoadData)(&module, KERNELS));
    if (bug == "overrun") {
        return launch_step("write", allocate_weights(100), 25);
    }
    if (bug == "unwritten") {
        return launch_step("read", allocate_weights(100), 5);
    }
    if (bug == "freed") {
        const CUdeviceptr memory = allocate_weights(100);
        release_weights(memory);
        return launch_step("write", memory, 3);
    }
    if (bug == "threads") {
        CUdeviceptr memory = 0;
        std::thread([&] {
            check(CU(cuCtxSetCurrent)(context));
            memory = allocate_weights(100);
        }).join();
        std::thread([&] {
            check(CU(cuCtxSetCurrent)(context));
            release_weights(memory);
        }).join();
        return launch_step("write", memory, 3);
    }
    if (bug == "leaks") {
        leak_everything();
    }
    if (bug == "repeat") {
        repeat(count < 4 ? 1 : std::atoi(arguments[3]));
    }
    check(CU(cuModuleUnload)(module));
    return 0;
}
