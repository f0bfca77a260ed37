// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures the overhead of the C++ objects over bare driver calls. Every operation is measured both
// ways in turns: "…/driver" with hand-written calls and "…/cuprum" with objects, on the same driver
// and memory.

#include "bare_driver.hpp"
#include "in_turns.hpp"

#include <cuprum/cuprum.hpp>

#include <benchmark/benchmark.h>
#include <cuda.h>

#include <memory>

namespace {

using bare::check;
using bare::Driver;
using in_turns::Between;
using in_turns::compare;

constexpr const char* SOURCE = R"(
extern "C" __global__ void empty() {}
extern "C" __global__ void three(float* x, float a, long long n) { if (n < 0) *x = a; }
#define P(i) , int* p##i
extern "C" __global__ void sixteen(int* p0 P(1) P(2) P(3) P(4) P(5) P(6) P(7) P(8) P(9) P(10)
                                   P(11) P(12) P(13) P(14) P(15)) { if (!p0) *p1 = 0; }
)";

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const cuprum::Device device(0);
    device.set_current();
    const auto context = device.primary_context();
    auto stream = device.create_stream();
    const auto code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Cubin);
    const auto empty = code.get_kernel("empty");
    const auto three = code.get_kernel("three");
    const auto sixteen = code.get_kernel("sixteen");
    const auto pool = std::dynamic_pointer_cast<cuprum::MemoryPool>(device.memory_resource());
    const auto source = device.allocate(4096, stream);
    const auto target = device.allocate(4096, stream);
    const auto event = device.create_event();
    const Driver driver;
    // The bare calls use their own stream. If they read the handle of ours, Cuprum would query it
    // for stream capture from then on.
    const auto raw_create = [&driver] {
        CUstream made = nullptr;
        check(driver.cuStreamCreateWithPriority_(&made, CU_STREAM_NON_BLOCKING, 0), "create");
        return made;
    };
    CUstream raw_stream = raw_create();
    const CUevent raw_event = event.handle();
    const CUcontext raw_context = context.handle();
    const CUmemoryPool raw_pool = pool->handle();
    const CUdeviceptr raw_source = source.handle();
    const CUdeviceptr raw_target = target.handle();

    const auto raw_sync = [&] { check(driver.cuStreamSynchronize_(raw_stream), "sync"); };
    CUlaunchConfig raw_config{};
    raw_config.gridDimX = raw_config.gridDimY = raw_config.gridDimZ = 1;
    raw_config.blockDimX = raw_config.blockDimY = raw_config.blockDimZ = 1;
    raw_config.hStream = raw_stream;
    const cuprum::LaunchConfig config{.grid = 1, .block = 1};
    const Between settle{[&] {
                             raw_sync();
                             stream.sync();
                         },
                         [&] {
                             stream = device.create_stream();
                             const CUstream before = raw_stream;
                             raw_stream = raw_config.hStream = raw_create();
                             check(driver.cuStreamDestroy_(before), "destroy");
                         }};
    const Between nothing{[] {}, [] {}};

    CUdeviceptr pointer = raw_source;
    float factor = 2;
    long long count = 7;
    void* three_arguments[] = {&pointer, &factor, &count};
    void* sixteen_arguments[16];
    for (auto& argument : sixteen_arguments) {
        argument = &pointer;
    }
    const auto raw_launch = [&](const cuprum::Kernel& kernel, void** arguments) {
        return [&driver, &raw_config, function = reinterpret_cast<CUfunction>(kernel.handle()),
                arguments] {
            check(driver.cuLaunchKernelEx_(&raw_config, function, arguments, nullptr), "launch");
        };
    };
    // A queue holds about a thousand launches; more would measure the device.
    constexpr int LAUNCHES = 300;
    compare("launch_empty", LAUNCHES, settle, raw_launch(empty, nullptr),
            [&] { cuprum::launch(stream, config, empty); });
    compare("launch_3_args", LAUNCHES, settle, raw_launch(three, three_arguments),
            [&] { cuprum::launch(stream, config, three, source, factor, count); });
    compare("launch_16_buffers", LAUNCHES, settle, raw_launch(sixteen, sixteen_arguments), [&] {
        cuprum::launch(stream, config, sixteen, source, source, source, source, source, source,
                       source, source, source, source, source, source, source, source, source,
                       source);
    });
    compare(
        "allocate_free", 300, settle,
        [&] {
            CUdeviceptr memory = 0;
            check(driver.cuMemAllocFromPoolAsync_(&memory, 1024, raw_pool, raw_stream), "allocate");
            check(driver.cuMemFreeAsync_(memory, raw_stream), "free");
        },
        [&] { static_cast<void>(pool->allocate(1024, stream)); });
    compare(
        "copy", 300, settle,
        [&] { check(driver.cuMemcpyAsync_(raw_target, raw_source, 4096, raw_stream), "copy"); },
        [&] { source.copy_to(target, stream); });
    compare(
        "fill", 200, settle,
        [&] { check(driver.cuMemsetD8Async_(raw_source, 0, 4096, raw_stream), "fill"); },
        [&] { source.fill(std::uint8_t{0}, stream); });
    compare(
        "event_create", 500, nothing,
        [&] {
            CUevent made = nullptr;
            check(driver.cuEventCreate_(&made, CU_EVENT_DISABLE_TIMING), "create");
            check(driver.cuEventDestroy_(made), "destroy");
        },
        [&] { static_cast<void>(device.create_event()); });
    compare(
        "event_record", 500, settle,
        [&] { check(driver.cuEventRecord_(raw_event, raw_stream), "record"); },
        [&] { stream.record(event); });
    compare(
        "event_is_done", 2000, nothing,
        [&] { benchmark::DoNotOptimize(driver.cuEventQuery_(raw_event)); },
        [&] { benchmark::DoNotOptimize(event.is_done()); });
    const auto array = device.create_opaque_array(
        {.extent = {.width = 64, .height = 64}, .is_surface_load_store = true});
    const auto resource = cuprum::ResourceDescriptor::from_opaque_array(array);
    const cuprum::TextureObjectOptions sampling{.filter_mode = cuprum::FilterMode::Linear,
                                                .normalized_coords = true};
    CUDA_RESOURCE_DESC raw_resource{};
    raw_resource.resType = CU_RESOURCE_TYPE_ARRAY;
    raw_resource.res.array.hArray = array.handle();
    CUDA_TEXTURE_DESC raw_sampling{};
    raw_sampling.filterMode = CU_TR_FILTER_MODE_LINEAR;
    raw_sampling.flags = CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_READ_AS_INTEGER;
    compare(
        "texture_create", 200, nothing,
        [&] {
            CUtexObject made = 0;
            check(driver.cuTexObjectCreate_(&made, &raw_resource, &raw_sampling, nullptr),
                  "create");
            check(driver.cuTexObjectDestroy_(made), "destroy");
        },
        [&] { static_cast<void>(device.create_texture_object(resource, sampling)); });
    compare(
        "surface_create", 200, nothing,
        [&] {
            CUsurfObject made = 0;
            check(driver.cuSurfObjectCreate_(&made, &raw_resource), "create");
            check(driver.cuSurfObjectDestroy_(made), "destroy");
        },
        [&] { static_cast<void>(device.create_surface_object(resource)); });
    compare(
        "stream_create", 50, nothing,
        [&] { check(driver.cuStreamDestroy_(raw_create()), "destroy"); },
        [&] { static_cast<void>(device.create_stream()); });
    compare("stream_sync", 1000, nothing, raw_sync, [&] { stream.sync(); });
    const auto raw_encode = [&] {
        CUtensorMap map;
        const cuuint64_t dims[] = {64, 16};
        const cuuint64_t strides[] = {256};
        const cuuint32_t box[] = {8, 8};
        const cuuint32_t steps[] = {1, 1};
        check(driver.cuTensorMapEncodeTiled_(
                  &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(raw_source),
                  dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
              "encode");
        benchmark::DoNotOptimize(map);
    };
    // Like the bare call, a typed view keeps nothing alive.
    const cuprum::TypedView<float, 2> typed(source, {16, 64});
    compare("tensor_map", 2000, nothing, raw_encode, [&] {
        benchmark::DoNotOptimize(cuprum::TensorMapDescriptor::tiled(typed, {.box_dim = {8, 8}}));
    });
    const auto shared = cuprum::StridedMemoryView::of<float>(source, typed.shape());
    compare("tensor_map_of_view", 2000, nothing, raw_encode, [&] {
        benchmark::DoNotOptimize(cuprum::TensorMapDescriptor::tiled(shared, {.box_dim = {8, 8}}));
    });
    compare(
        "set_current", 2000, nothing,
        [&] { check(driver.cuCtxSetCurrent_(raw_context), "set current"); },
        [&] { device.set_current(); });

    // Before the first kernel runs, polling an event or a stream costs five times as much.
    cuprum::launch(stream, config, empty);
    stream.sync();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
}
