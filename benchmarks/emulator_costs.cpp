// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures the driver's costs apart from running kernels: loading a small and a large kernel from
// PTX, enqueuing a launch on an idle stream, the memory of each unfinished warp, and a chain of
// small kernels launched one by one and as a graph. Writes JSON.

#include "bare_driver.hpp"

#include <cuprum/cuprum.hpp>

#include <cuda.h>

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr const char* SOURCE = R"(
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
)";

constexpr const char* EMPTY = R"(
extern "C" __global__ void empty() {}
)";

// Every block increments a counter, then waits until the host releases it.
constexpr const char* HOLD = R"(
extern "C" __global__ void hold(unsigned* come, volatile unsigned* go) {
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(come, 1u);
    while (*go == 0) {}
}
)";

constexpr int LOADS = 200;
constexpr int LARGE_LOADS = 7;
constexpr int LARGE_INSTRUCTIONS = 64'000;
constexpr std::size_t LARGE_BYTES = std::size_t{64} << 10; // what its threads access, and more
constexpr int LAUNCHES = 2000;
constexpr int IDLE_LAUNCHES = 50;
constexpr int CHAIN_KERNELS = 1000;
constexpr int CHAIN_ROUNDS = 30;
constexpr unsigned BLOCKS = 128;
constexpr unsigned WARPS_PER_BLOCK = 32;

using bare::check;

/// The driver's own functions, so that no cost of Cuprum is measured.
struct Driver {
#define FUNCTION(name, symbol) decltype(&::name) name##_ = bare::find<decltype(&::name)>(symbol)
    FUNCTION(cuModuleLoadData, "cuModuleLoadData");
    FUNCTION(cuModuleGetFunction, "cuModuleGetFunction");
    FUNCTION(cuModuleUnload, "cuModuleUnload");
    FUNCTION(cuLaunchKernel, "cuLaunchKernel");
    FUNCTION(cuStreamSynchronize, "cuStreamSynchronize");
    FUNCTION(cuMemHostAlloc, "cuMemHostAlloc");
    FUNCTION(cuMemFreeHost, "cuMemFreeHost");
    FUNCTION(cuStreamBeginCapture, "cuStreamBeginCapture");
    FUNCTION(cuStreamEndCapture, "cuStreamEndCapture");
    FUNCTION(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
    FUNCTION(cuGraphLaunch, "cuGraphLaunch");
    FUNCTION(cuGraphExecDestroy, "cuGraphExecDestroy");
    FUNCTION(cuGraphDestroy, "cuGraphDestroy");
#undef FUNCTION
};

/// Repeated measurements of one operation in microseconds: elapsed time, and processor time of the
/// calling thread, which other programs on the machine hardly change.
struct Times {
    std::vector<double> wall;
    std::vector<double> processor;

    template <typename Body>
    void add(const Body& body) {
        const double processor_begin = thread_us();
        const auto begin = std::chrono::steady_clock::now();
        body();
        const std::chrono::duration<double, std::micro> took =
            std::chrono::steady_clock::now() - begin;
        wall.push_back(took.count());
        processor.push_back(thread_us() - processor_begin);
    }

    static double thread_us() {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
    }
};

/// Returns the resident memory of the process.
std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t total = 0;
    std::size_t resident = 0;
    file >> total >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Returns the memory that the process has allocated and not freed.
std::size_t allocated_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

std::string ptx_of(const char* source) {
    const auto code = cuprum::Program(source).compile(cuprum::CodeType::Ptx);
    const auto bytes = code.code();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string json(const std::vector<double>& values) {
    std::string text = "[";
    for (const double value : values) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(value);
    }
    return text + "]";
}

std::string json(const Times& times) {
    return "{\"wall\": " + json(times.wall) + ", \"processor\": " + json(times.processor) + "}";
}

/// Loads a module, which stays loaded, and returns its kernel.
CUfunction load(const Driver& driver, const char* source, const char* name) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    check(driver.cuModuleLoadData_(&module, ptx_of(source).c_str()), "cuModuleLoadData");
    check(driver.cuModuleGetFunction_(&function, module, name), "cuModuleGetFunction");
    return function;
}

Times load_times(const Driver& driver) {
    const std::string ptx = ptx_of(SOURCE);
    Times times;
    for (int i = 0; i < LOADS; ++i) {
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        times.add([&] {
            check(driver.cuModuleLoadData_(&module, ptx.c_str()), "cuModuleLoadData");
            check(driver.cuModuleGetFunction_(&function, module, "saxpy"), "cuModuleGetFunction");
        });
        check(driver.cuModuleUnload_(module), "cuModuleUnload");
    }
    return times;
}

/// Returns a kernel of 64 000 instructions in a straight line.
std::string large_ptx() {
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n"
                       ".visible .entry large(.param .u64 out) {\n"
                       ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n"
                       "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"
                       "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                       "ld.global.f32 %f1, [%rd3];\n";
    for (int i = 0; i < LARGE_INSTRUCTIONS / 8; ++i) {
        text +=
            "ld.global.f32 %f2, [%rd3+" + std::to_string(4 * (i % 64)) +
            "];\nfma.rn.f32 %f3, %f1, %f2, %f1;\nadd.s32 %r2, %r1, 3;\nxor.b32 %r1, %r2, %r1;\n"
            "mul.f32 %f4, %f3, 0f3f000000;\nadd.f32 %f1, %f4, %f2;\nst.global.f32 [%rd3], %f1;\n"
            "add.s64 %rd3, %rd3, 4;\n";
    }
    return text + "st.global.u32 [%rd3], %r1;\nret;\n}\n";
}

Times large_load_times(const Driver& driver) {
    const std::string ptx = large_ptx();
    Times times;
    for (int i = 0; i < LARGE_LOADS; ++i) {
        CUmodule module = nullptr;
        times.add(
            [&] { check(driver.cuModuleLoadData_(&module, ptx.c_str()), "cuModuleLoadData"); });
        check(driver.cuModuleUnload_(module), "cuModuleUnload");
    }
    return times;
}

/// Runs the kernel of large_ptx() once, in a block whose rows have 16 threads.
void launch_large(const Driver& driver, CUmodule module, CUstream stream) {
    CUfunction function = nullptr;
    void* memory = nullptr;
    check(driver.cuModuleGetFunction_(&function, module, "large"), "cuModuleGetFunction");
    check(driver.cuMemHostAlloc_(&memory, LARGE_BYTES, 0), "cuMemHostAlloc");
    void* arguments[] = {&memory};
    check(driver.cuLaunchKernel_(function, 1, 1, 1, 16, 4, 1, 0, stream, arguments, nullptr),
          "cuLaunchKernel");
    check(driver.cuStreamSynchronize_(stream), "cuStreamSynchronize");
    check(driver.cuMemFreeHost_(memory), "cuMemFreeHost");
}

/// Returns what a loaded module holds for each line of PTX, apart from the text itself: after
/// loading, and after a launch with blocks that are 16 threads wide.
std::pair<double, double> line_bytes(const Driver& driver, CUstream stream) {
    const std::string ptx = large_ptx();
    std::vector<CUmodule> modules(4);
    CUmodule first = nullptr; // what parsing needs for a while is not counted
    check(driver.cuModuleLoadData_(&first, ptx.c_str()), "cuModuleLoadData");
    launch_large(driver, first, stream);
    const std::size_t before = allocated_bytes();
    for (CUmodule& module : modules) {
        check(driver.cuModuleLoadData_(&module, ptx.c_str()), "cuModuleLoadData");
    }
    const std::size_t loaded = allocated_bytes();
    for (const CUmodule module : modules) {
        launch_large(driver, module, stream);
    }
    const std::size_t launched = allocated_bytes();
    for (const CUmodule module : modules) {
        check(driver.cuModuleUnload_(module), "cuModuleUnload");
    }
    check(driver.cuModuleUnload_(first), "cuModuleUnload");
    const auto per_line = [&](std::size_t after) {
        const auto held = static_cast<double>(after - before) / static_cast<double>(modules.size());
        return (held - static_cast<double>(ptx.size())) / LARGE_INSTRUCTIONS;
    };
    return {per_line(loaded), per_line(launched)};
}

/// Times launches of an empty kernel. Each starts on an idle stream, `pause` after the previous one
/// finished.
Times enqueue_times(const Driver& driver, CUstream stream, int count,
                    std::chrono::microseconds pause) {
    const CUfunction empty = load(driver, EMPTY, "empty");
    Times times;
    for (int i = 0; i < count; ++i) {
        if (pause.count() != 0) {
            std::this_thread::sleep_for(pause);
        }
        times.add([&] {
            check(driver.cuLaunchKernel_(empty, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr),
                  "cuLaunchKernel");
        });
        check(driver.cuStreamSynchronize_(stream), "cuStreamSynchronize");
    }
    return times;
}

/// Times a chain of small kernels, from the first launch to the end of the last kernel, launched
/// one by one and replayed from a graph. The rounds alternate, so both meet the same machine.
std::pair<Times, Times> chain_times(const Driver& driver, CUstream stream) {
    const CUfunction saxpy = load(driver, SOURCE, "saxpy");
    void* memory = nullptr;
    check(driver.cuMemHostAlloc_(&memory, 4096, 0), "cuMemHostAlloc");
    float factor = 2;
    void* in = memory;
    void* out = static_cast<char*>(memory) + 2048;
    int count = 32;
    void* arguments[] = {&factor, &in, &out, &count};
    const auto launch_all = [&] {
        for (int i = 0; i < CHAIN_KERNELS; ++i) {
            check(driver.cuLaunchKernel_(saxpy, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr),
                  "cuLaunchKernel");
        }
    };
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    check(driver.cuStreamBeginCapture_(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
          "cuStreamBeginCapture");
    launch_all();
    check(driver.cuStreamEndCapture_(stream, &graph), "cuStreamEndCapture");
    check(driver.cuGraphInstantiateWithFlags_(&executable, graph, 0), "cuGraphInstantiate");
    Times one_by_one;
    Times replayed;
    for (int round = 0; round < CHAIN_ROUNDS; ++round) {
        one_by_one.add([&] {
            launch_all();
            check(driver.cuStreamSynchronize_(stream), "cuStreamSynchronize");
        });
        replayed.add([&] {
            check(driver.cuGraphLaunch_(executable, stream), "cuGraphLaunch");
            check(driver.cuStreamSynchronize_(stream), "cuStreamSynchronize");
        });
    }
    check(driver.cuGraphExecDestroy_(executable), "cuGraphExecDestroy");
    check(driver.cuGraphDestroy_(graph), "cuGraphDestroy");
    check(driver.cuMemFreeHost_(memory), "cuMemFreeHost");
    return {one_by_one, replayed};
}

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + static_cast<long>(values.size() / 2));
    return values[values.size() / 2];
}

double warp_bytes(const Driver& driver, CUstream stream) {
    const CUfunction hold = load(driver, HOLD, "hold");
    void* memory = nullptr;
    check(driver.cuMemHostAlloc_(&memory, 4096, 0), "cuMemHostAlloc");
    auto* const words = static_cast<volatile unsigned*>(memory);
    words[0] = 0;
    words[1] = 0;
    void* come = memory;
    void* go = static_cast<char*>(memory) + sizeof(unsigned);
    void* arguments[] = {&come, &go};
    const std::size_t before = resident_bytes();
    check(driver.cuLaunchKernel_(hold, BLOCKS, 1, 1, WARPS_PER_BLOCK * 32, 1, 1, 0, stream,
                                 arguments, nullptr),
          "cuLaunchKernel");
    while (words[0] != BLOCKS) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::size_t after = resident_bytes();
    words[1] = 1;
    check(driver.cuStreamSynchronize_(stream), "cuStreamSynchronize");
    return static_cast<double>(after - before) / (BLOCKS * WARPS_PER_BLOCK);
}

} // namespace

int main() {
    const cuprum::Device device(0);
    device.set_current();
    const auto stream = device.create_stream();
    const auto handle = stream.handle();
    const Driver driver;
    const auto [bytes_per_line, bytes_per_line_launched] =
        device.is_emulated() ? line_bytes(driver, handle) : std::pair(0.0, 0.0);
    const auto loads = load_times(driver);
    const auto large_loads = large_load_times(driver);
    const auto warm = enqueue_times(driver, handle, LAUNCHES, {});
    const auto cold = enqueue_times(driver, handle, IDLE_LAUNCHES, std::chrono::microseconds(2000));
    const auto [one_by_one, replayed] = chain_times(driver, handle);
    std::printf(
        "{\n \"load_us\": %s,\n \"load_large_us\": %s,\n \"bytes_per_line\": %f,\n "
        "\"bytes_per_line_launched\": %f,\n \"enqueue_us\": %s,\n \"enqueue_after_pause_us\": %s,\n"
        " \"chain_one_by_one_us\": %s,\n \"chain_replayed_us\": %s,\n"
        " \"chain_ratio\": %f,\n \"bytes_per_warp\": %f\n}\n",
        json(loads).c_str(), json(large_loads).c_str(), bytes_per_line, bytes_per_line_launched,
        json(warm).c_str(), json(cold).c_str(), json(one_by_one).c_str(), json(replayed).c_str(),
        median(replayed.wall) / median(one_by_one.wall),
        device.is_emulated() ? warp_bytes(driver, handle) : 0.0);
}
