// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The bare driver inside the process that is measured: what a call costs depends on what else the
// process does, so the floor under a Python package is measured in turns with it, on its objects.

#include <cuda.h>

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {

/// The driver objects to work on: those that the package gives, and a stream and an event of our
/// own, since a package may treat a stream otherwise once its handle is known outside.
struct FloorObjects {
    CUcontext context;
    CUmemoryPool pool;
    CUfunction empty;
    CUfunction three;
    CUfunction sixteen;
    CUdeviceptr source;
    CUdeviceptr target;
    CUstream stream; // null at first
    CUevent event;
};

/// Calls the driver `loops` times as an operation of that name would and returns nanoseconds a
/// call; negative if the operation has no floor.
__attribute__((visibility("default"))) double floor_of(const char* operation, int loops,
                                                       FloorObjects* objects);
}

namespace {

template <typename Function>
Function find(const char* name) {
    static void* const library = [] {
        const char* const chosen = std::getenv("CUPRUM_DRIVER");
        const bool is_path = chosen != nullptr && chosen[0] == '/';
        return ::dlopen(is_path ? chosen : "libcuda.so.1", RTLD_NOW);
    }();
    void* const address = library == nullptr ? nullptr : ::dlsym(library, name);
    if (address == nullptr) {
        std::fprintf(stderr, "the driver has no %s\n", name);
        std::exit(1);
    }
    return reinterpret_cast<Function>(address);
}

void check(CUresult status) {
    if (status != CUDA_SUCCESS) {
        std::fprintf(stderr, "a driver call failed: %d\n", static_cast<int>(status));
        std::exit(1);
    }
}

template <typename Call>
double time(int loops, const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < loops; ++i) {
        call();
    }
    const auto end = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::nano>(end - begin).count() / loops;
}

double time_launch(int loops, const FloorObjects& objects, CUfunction kernel, void** arguments) {
    static const auto launch = find<decltype(&cuLaunchKernelEx)>("cuLaunchKernelEx");
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = objects.stream;
    return time(loops, [&] { check(launch(&config, kernel, arguments, nullptr)); });
}

double time_memory(const char* operation, int loops, const FloorObjects& objects) {
    static const auto allocate =
        find<decltype(&cuMemAllocFromPoolAsync)>("cuMemAllocFromPoolAsync");
    static const auto free = find<decltype(&cuMemFreeAsync)>("cuMemFreeAsync");
    static const auto copy = find<decltype(&cuMemcpyAsync)>("cuMemcpyAsync");
    static const auto fill = find<decltype(&cuMemsetD8Async)>("cuMemsetD8Async");
    if (std::strcmp(operation, "allocate_free") == 0) {
        return time(loops, [&] {
            CUdeviceptr memory = 0;
            check(allocate(&memory, 1024, objects.pool, objects.stream));
            check(free(memory, objects.stream));
        });
    }
    if (std::strcmp(operation, "copy") == 0) {
        return time(loops,
                    [&] { check(copy(objects.target, objects.source, 4096, objects.stream)); });
    }
    if (std::strcmp(operation, "fill") == 0) {
        return time(loops, [&] { check(fill(objects.source, 0, 4096, objects.stream)); });
    }
    return -1;
}

double time_event(const char* operation, int loops, const FloorObjects& objects) {
    static const auto create = find<decltype(&cuEventCreate)>("cuEventCreate");
    static const auto destroy = find<decltype(&cuEventDestroy)>("cuEventDestroy_v2");
    static const auto record = find<decltype(&cuEventRecord)>("cuEventRecord");
    static const auto query = find<decltype(&cuEventQuery)>("cuEventQuery");
    if (std::strcmp(operation, "event_create") == 0) {
        return time(loops, [&] {
            CUevent event = nullptr;
            check(create(&event, CU_EVENT_DISABLE_TIMING));
            check(destroy(event));
        });
    }
    if (std::strcmp(operation, "event_record") == 0) {
        return time(loops, [&] { check(record(objects.event, objects.stream)); });
    }
    if (std::strcmp(operation, "event_is_done") == 0) {
        return time(loops, [&] { check(query(objects.event)); });
    }
    return -1;
}

double time_stream(const char* operation, int loops, const FloorObjects& objects) {
    static const auto create =
        find<decltype(&cuStreamCreateWithPriority)>("cuStreamCreateWithPriority");
    static const auto destroy = find<decltype(&cuStreamDestroy)>("cuStreamDestroy_v2");
    static const auto synchronize = find<decltype(&cuStreamSynchronize)>("cuStreamSynchronize");
    static const auto set_current = find<decltype(&cuCtxSetCurrent)>("cuCtxSetCurrent");
    if (std::strcmp(operation, "stream_create") == 0) {
        return time(loops, [&] {
            CUstream stream = nullptr;
            check(create(&stream, CU_STREAM_NON_BLOCKING, 0));
            check(destroy(stream));
        });
    }
    if (std::strcmp(operation, "stream_sync") == 0) {
        return time(loops, [&] { check(synchronize(objects.stream)); });
    }
    if (std::strcmp(operation, "set_current") == 0) {
        return time(loops, [&] { check(set_current(objects.context)); });
    }
    return -1;
}

} // namespace

namespace {

double time_operation(const char* operation, int loops, const FloorObjects* objects) {
    CUdeviceptr pointer = objects->source;
    float factor = 2;
    long long count = 7;
    void* three[] = {&pointer, &factor, &count};
    void* sixteen[16];
    for (void*& argument : sixteen) {
        argument = &pointer;
    }
    if (std::strcmp(operation, "launch_empty") == 0) {
        return time_launch(loops, *objects, objects->empty, nullptr);
    }
    if (std::strcmp(operation, "launch_3_args") == 0) {
        return time_launch(loops, *objects, objects->three, three);
    }
    if (std::strncmp(operation, "launch_16", std::strlen("launch_16")) == 0) {
        return time_launch(loops, *objects, objects->sixteen, sixteen);
    }
    double result = time_memory(operation, loops, *objects);
    if (result < 0) {
        result = time_event(operation, loops, *objects);
    }
    return result < 0 ? time_stream(operation, loops, *objects) : result;
}

} // namespace

double floor_of(const char* operation, int loops, FloorObjects* objects) {
    if (objects->stream == nullptr) {
        static const auto create_stream =
            find<decltype(&cuStreamCreateWithPriority)>("cuStreamCreateWithPriority");
        static const auto create_event = find<decltype(&cuEventCreate)>("cuEventCreate");
        check(create_stream(&objects->stream, CU_STREAM_NON_BLOCKING, 0));
        check(create_event(&objects->event, CU_EVENT_DISABLE_TIMING));
    }
    const double result = time_operation(operation, loops, objects);
    static const auto synchronize = find<decltype(&cuStreamSynchronize)>("cuStreamSynchronize");
    check(synchronize(objects->stream));
    return result;
}
