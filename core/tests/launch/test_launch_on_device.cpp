// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compiles and launches real kernels and checks their results, on a GPU and on the emulated device.

#include "support/device_test.hpp"
#include "support/expect_error.hpp"

#include <cuprum/cuprum.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuprum {
namespace {

using testing::expect_error;
using DeviceLaunch = testing::DeviceTest;

constexpr const char* SAXPY = R"(
    extern "C" __global__ void saxpy(float a, const float* x, float* y, unsigned long long n) {
        unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
        if (i < n) y[i] = a * x[i] + y[i];
    })";

TEST_F(DeviceLaunch, saxpy_gives_the_right_numbers_as_ptx_and_as_cubin) {
    constexpr std::size_t COUNT = 10'007; // not a multiple of the block
    constexpr unsigned BLOCK = 128;
    std::vector<float> x(COUNT);
    std::iota(x.begin(), x.end(), 0.0F);
    const std::vector<float> y(COUNT, 1.0F);
    for (const CodeType target : {CodeType::Ptx, CodeType::Cubin}) {
        const Kernel saxpy = compile(SAXPY, {}, target).get_kernel("saxpy");
        const Buffer x_buffer = upload(x);
        const Buffer y_buffer = upload(y);
        launch(stream(), {.grid = (COUNT + BLOCK - 1) / BLOCK, .block = BLOCK}, saxpy, 2.0F,
               x_buffer, y_buffer, COUNT);
        const std::vector<float> result = download<float>(y_buffer);
        for (std::size_t i = 0; i < COUNT; ++i) {
            ASSERT_EQ(result[i], 2.0F * x[i] + 1.0F) << "at " << i;
        }
    }
}

TEST_F(DeviceLaunch, a_typed_kernel_launches) {
    const auto saxpy = compile(SAXPY)
                           .get_kernel("saxpy")
                           .as<void(float, const float*, float*, unsigned long long)>();
    const Buffer x = upload(std::vector<float>{1, 2, 3, 4});
    const Buffer y = upload(std::vector<float>(4, 10.0F));
    saxpy(stream(), {.block = 32}, 3, x, y, 4);
    EXPECT_EQ(download<float>(y), (std::vector<float>{13, 16, 19, 22}));
}

TEST_F(DeviceLaunch, integers_become_floats_and_floats_for_integers_are_refused) {
    const struct {
        const char* source;
        std::vector<std::string> names;
        const char* kernel;
        CodeType target;
    } cases[]{
        // PTX declares the types of extern "C" kernels, and mangled names those of C++ kernels.
        {"extern \"C\" __global__ void f(float* x, float a, double b, int n) { x[n] = a * b; }",
         {},
         "f",
         CodeType::Ptx},
        {"__global__ void f(float* x, float a, double b, int n) { x[n] = a * b; }",
         {"f"},
         "f",
         CodeType::Cubin},
        {"template <typename T> __global__ void f(T* x, T a, double b, int n) { x[n] = a * b; }",
         {"f<float>"},
         "f<float>",
         CodeType::Cubin},
    };

    for (const auto& [source, names, name, target] : cases) {
        const Kernel kernel = compile(source, names, target).get_kernel(name);
        const Buffer x = upload(std::vector<float>(4, 0.0F));
        launch(stream(), {}, kernel, x, 2, 3, 1);
        EXPECT_EQ(download<float>(x), (std::vector<float>{0, 6, 0, 0})) << name;
        expect_error<std::invalid_argument>(
            [&] { launch(stream(), {}, kernel, x, 2.0F, 3.0, 1.0F); },
            {"argument 3", "floating-point number 1", "integer of 4 bytes"});
        expect_error<std::invalid_argument>(
            [&] { launch(stream(), {}, kernel, x, 16'777'217, 3.0, 1); },
            {"argument 1", "16777217", "exactly"});
        expect_error<std::invalid_argument>(
            [&] { static_cast<void>(kernel.as<void(float*, int, double, int)>()); },
            {"parameter 1", "an integer", "a floating-point number"});
    }
}

TEST_F(DeviceLaunch, runs_in_the_context_of_the_stream_whatever_is_current) {
    const Kernel kernel =
        compile("extern \"C\" __global__ void add(int* x) { *x += 1; }").get_kernel("add");
    const Buffer number = upload(std::vector<int>{0});
    const Stream queue = stream();
    const Context other = Context::create(queue.device());
    launch(queue, {}, kernel, number);
    {
        const CurrentContext current(other);
        launch(queue, {}, kernel, number);
        EXPECT_TRUE(Context::current() == other);
    }
    std::jthread([&] { // a thread without a current context
        launch(queue, {}, kernel, number);
        EXPECT_FALSE(Context::current().has_value());
    })
        .join();
    EXPECT_EQ(download<int>(number), std::vector{3});
    // This includes the first launch, which loads the code.
    const Kernel twice =
        compile("extern \"C\" __global__ void twice(int* x) { *x *= 2; }").get_kernel("twice");
    std::jthread([&] { launch(queue, {}, twice, number); }).join();
    EXPECT_EQ(download<int>(number), std::vector{6});
}

TEST_F(DeviceLaunch, a_limit_is_explained_whatever_is_current) {
    const Kernel kernel = compile("extern \"C\" __global__ void none() {}").get_kernel("none");
    const Stream queue = stream();
    std::jthread([&] {
        expect_error<LaunchError>([&] { launch(queue, {.grid = 1, .block = 4096}, kernel); },
                                  {"block", "4096"});
        EXPECT_FALSE(Context::current().has_value());
    }).join();
}

TEST_F(DeviceLaunch, templates_are_launched_by_the_names_they_are_written_with) {
    const ObjectCode code = compile(
        "namespace maths { template <typename T, int N> __global__ void times(T* x) { *x *= N; } }",
        {"maths::times<float, 3>", "maths::times<int, 5>"});
    const Buffer number = upload(std::vector<float>{1.5F});
    const Buffer integer = upload(std::vector<int>{7});
    launch(stream(), {}, code.get_kernel("maths::times<float, 3>"), number);
    launch(stream(), {}, code.get_kernel("maths::times<int, 5>"), integer);
    EXPECT_EQ(download<float>(number), std::vector{4.5F});
    EXPECT_EQ(download<int>(integer), std::vector{35});
}

struct Particle {
    char kind;
    double mass;
    float position[3];
};

TEST_F(DeviceLaunch, structures_are_passed_by_value) {
    const Kernel kernel = compile(R"(
        struct Particle { char kind; double mass; float position[3]; };
        extern "C" __global__ void sum(Particle p, double* out) {
            *out = p.kind + p.mass + p.position[0] + p.position[1] + p.position[2];
        })")
                              .get_kernel("sum");
    const Buffer out = upload(std::vector<double>{0});
    launch(stream(), {}, kernel, Particle{.kind = 1, .mass = 0.5, .position = {10, 20, 30}}, out);
    EXPECT_EQ(download<double>(out), std::vector{61.5});
}

TEST_F(DeviceLaunch, no_argument_and_very_many) {
    constexpr int COUNT = 100;
    std::string source = "extern \"C\" __global__ void none() {}\n"
                         "extern \"C\" __global__ void many(long long* sum";
    std::string body;
    for (int i = 0; i < COUNT; ++i) {
        source += ", int a" + std::to_string(i);
        body += " + a" + std::to_string(i) + " * " + std::to_string(i + 1) + "LL";
    }
    const ObjectCode code = compile(source + ") { *sum = 0" + body + "; }");
    launch(stream(), {.grid = 2, .block = 33}, code.get_kernel("none"));

    const Buffer sum = upload(std::vector<long long>{0});
    const CUdeviceptr address = sum.handle();
    std::vector<int> values(COUNT);
    std::vector<KernelArgument> arguments{{&address, sizeof(address)}};
    long long expected = 0;
    for (int i = 0; i < COUNT; ++i) {
        values[static_cast<std::size_t>(i)] = 3 * i - 50;
        arguments.push_back({&values[static_cast<std::size_t>(i)], sizeof(int)});
        expected += (3LL * i - 50) * (i + 1);
    }
    launch(stream(), {}, code.get_kernel("many"), std::span<const KernelArgument>(arguments));
    EXPECT_EQ(download<long long>(sum), std::vector{expected});
}

TEST_F(DeviceLaunch, every_size_of_argument_arrives) {
    const Kernel kernel = compile(R"(
        extern "C" __global__ void mixed(bool a, signed char b, short c, int d, long long e,
                                         float f, double g, double* out) {
            double values[] = {double(a), double(b), double(c), double(d), double(e), f, g};
            for (int i = 0; i < 7; ++i) out[i] = values[i];
        })")
                              .get_kernel("mixed");
    const Buffer out = upload(std::vector<double>(7));
    launch(stream(), {}, kernel, true, static_cast<signed char>(-2), static_cast<short>(-300),
           70'000, -5'000'000'000LL, 0.5F, -0.25, out);
    EXPECT_EQ(download<double>(out), (std::vector<double>{1, -2, -300, 70'000, -5e9, 0.5, -0.25}));
}

constexpr const char* REVERSE = R"(
    extern "C" __global__ void reverse(int* x, unsigned last) {
        extern __shared__ int values[];
        values[last - threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        x[threadIdx.x] = values[threadIdx.x];
    })";

TEST_F(DeviceLaunch, dynamic_shared_memory_is_usable) {
    constexpr unsigned COUNT = 256;
    std::vector<int> values(COUNT);
    std::iota(values.begin(), values.end(), 0);
    const Buffer buffer = upload(values);
    launch(stream(), {.block = COUNT, .shmem_size = COUNT * sizeof(int)},
           compile(REVERSE).get_kernel("reverse"), buffer, COUNT - 1);
    EXPECT_EQ(download<int>(buffer), std::vector<int>(values.rbegin(), values.rend()));
}

TEST_F(DeviceLaunch, grids_and_blocks_have_three_dimensions) {
    const Kernel kernel = compile(R"(
        extern "C" __global__ void where(unsigned* out) {
            unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
            unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
            unsigned i = block * blockDim.x * blockDim.y * blockDim.z + thread;
            out[i] = i + 1;
        })")
                              .get_kernel("where");
    constexpr std::size_t COUNT = 2 * 3 * 4 * 5 * 6 * 7;
    const Buffer buffer = upload(std::vector<unsigned>(COUNT));
    launch(stream(), {.grid = {2, 3, 4}, .block = {5, 6, 7}}, kernel, buffer);
    std::vector<unsigned> expected(COUNT);
    std::iota(expected.begin(), expected.end(), 1U);
    EXPECT_EQ(download<unsigned>(buffer), expected);
}

TEST_F(DeviceLaunch, wrong_arguments_launch_nothing_and_keep_everything_usable) {
    const Kernel saxpy = compile(SAXPY).get_kernel("saxpy");
    const Buffer x = upload(std::vector<float>{1});
    const Buffer y = upload(std::vector<float>{1});
    expect_error<std::invalid_argument>([&] { launch(stream(), {}, saxpy, 1.0F, x, y); },
                                        {"takes 4 arguments", "3 given"});
    expect_error<std::invalid_argument>([&] { launch(stream(), {}, saxpy, 1.0, x, y, 1ULL); },
                                        {"argument 0", "8 bytes", "expected 4"});
    expect_error<std::invalid_argument>([&] { launch(stream(), {}, saxpy, 1.0F, x, y, 1); },
                                        {"argument 3", "4 bytes", "expected 8"});
    launch(stream(), {}, saxpy, 1.0F, x, y, 1ULL);
    EXPECT_EQ(download<float>(y), std::vector{2.0F});
}

TEST_F(DeviceLaunch, a_launch_beyond_the_limits_names_the_limit) {
    const ObjectCode code = compile("extern \"C\" __global__ void none() {}\n"
                                    "extern \"C\" __global__ void __launch_bounds__(64) "
                                    "bounded(int* x) { *x = 1; }");
    const Kernel none = code.get_kernel("none");
    const int threads = device().properties().max_threads_per_block();
    expect_error<LaunchError>(
        [&] { launch(stream(), {.block = {1, static_cast<unsigned>(threads), 2}}, none); },
        {"threads per block is " + std::to_string(2 * threads),
         "at most " + std::to_string(threads), "\"none\"", "cuLaunchKernelEx"});
    expect_error<LaunchError>([&] { launch(stream(), {.grid = {1, 70'000}}, none); },
                              {"grid.y", "70000"});
    expect_error<LaunchError>(
        [&] { launch(stream(), {.shmem_size = std::size_t{1} << 24U}, none); },
        {"16777216 bytes of LaunchConfig shmem_size"});
    const Buffer out = upload(std::vector<int>{0});
    expect_error<LaunchError>(
        [&] { launch(stream(), {.block = 65}, code.get_kernel("bounded"), out); },
        {"threads per block is 65", "\"bounded\"", "at most 64"});
    launch(stream(), {}, none);
    EXPECT_NO_THROW(stream().sync()) << "nothing was broken";
}

TEST_F(DeviceLaunch, a_launch_allows_more_than_48_kib_of_shared_memory_by_itself) {
    constexpr unsigned BYTES = 200 * 1024;
    constexpr unsigned COUNT = BYTES / sizeof(int);
    const int limit = device().properties().max_shared_memory_per_block_optin();
    if (limit < static_cast<int>(BYTES)) {
        GTEST_SKIP() << "the device has " << limit << " bytes";
    }
    const Kernel kernel = compile(R"(
        extern "C" __global__ void reverse(int* x, unsigned n) {
            extern __shared__ int values[];
            for (unsigned i = threadIdx.x; i < n; i += blockDim.x) values[i] = x[i];
            __syncthreads();
            for (unsigned i = threadIdx.x; i < n; i += blockDim.x) x[i] = values[n - 1 - i];
        })")
                              .get_kernel("reverse");
    std::vector<int> numbers(COUNT);
    std::iota(numbers.begin(), numbers.end(), 0);
    const Buffer buffer = upload(numbers);
    launch(stream(), {.block = 256, .shmem_size = BYTES}, kernel, buffer, COUNT);
    std::reverse(numbers.begin(), numbers.end());
    EXPECT_EQ(download<int>(buffer), numbers);
    EXPECT_EQ(kernel.attributes(device()).max_dynamic_shared_size_bytes, static_cast<int>(BYTES));
    expect_error<std::invalid_argument>(
        [&] { kernel.set_max_dynamic_shared_size_bytes(device(), limit + 1); },
        {std::to_string(limit + 1), "0 to " + std::to_string(limit)});
    expect_error<LaunchError>(
        [&] {
            launch(stream(), {.shmem_size = static_cast<std::size_t>(limit) + 1}, kernel, buffer,
                   0U);
        },
        {"shared memory per block", "at most " + std::to_string(limit)});
}

TEST_F(DeviceLaunch, static_and_dynamic_shared_memory_may_be_more_than_48_kib_together) {
    const Kernel kernel = compile(R"(
        extern "C" __global__ void both(int* x) {
            __shared__ int fixed[4096];
            extern __shared__ int dynamic[];
            fixed[4095] = x[0];
            dynamic[10239] = x[0];
            __syncthreads();
            x[0] = fixed[4095] + dynamic[10239];
        })")
                              .get_kernel("both");
    constexpr std::size_t BYTES = 40960;
    if (device().properties().max_shared_memory_per_block_optin() < 4 * 4096 + 40960) {
        GTEST_SKIP() << "the device has no more than 48 KiB";
    }
    const Buffer buffer = upload(std::vector<int>{21});
    launch(stream(), {.shmem_size = BYTES}, kernel, buffer);
    EXPECT_EQ(download<int>(buffer), std::vector{42});
}

TEST_F(DeviceLaunch, clusters_know_their_blocks) {
    if (device().compute_capability().major < 9) {
        GTEST_SKIP() << "the device has no clusters";
    }
    const Kernel kernel = compile(R"(
        extern "C" __global__ void ranks(unsigned* out) {
            unsigned rank, size;
            asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
            asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
            asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;");
            if (threadIdx.x == 0) out[blockIdx.x] = size * 10 + rank;
        })")
                              .get_kernel("ranks");
    const Buffer out = upload(std::vector<unsigned>(8));
    const LaunchConfig config{.grid = 2, .block = 32, .cluster = Dim3{4}};
    EXPECT_GE(kernel.occupancy().max_active_clusters(config, stream()), 1);
    EXPECT_GE(kernel.occupancy().max_potential_cluster_size(config, stream()), 4);
    launch(stream(), config, kernel, out);
    EXPECT_EQ(download<unsigned>(out), (std::vector<unsigned>{40, 41, 42, 43, 40, 41, 42, 43}));
    expect_error<LaunchError>(
        [&] { launch(stream(), {.block = 32, .cluster = Dim3{16}}, kernel, out); },
        {"blocks per cluster is 16", "non_portable_cluster_size_allowed"});
}

TEST_F(DeviceLaunch, a_programmatic_dependent_pair_is_in_order) {
    if (device().compute_capability().major < 9) {
        GTEST_SKIP() << "the device has no programmatic dependent launch";
    }
    const ObjectCode code = compile(R"(
        extern "C" __global__ void first(int* x) {
            asm volatile("griddepcontrol.launch_dependents;");
            atomicAdd(x, 1);
        }
        extern "C" __global__ void second(int* x, int* y) {
            asm volatile("griddepcontrol.wait;" ::: "memory");
            if (threadIdx.x == 0 && blockIdx.x == 0) *y = atomicAdd(x, 0);
        })");
    const Kernel first = code.get_kernel("first");
    const Kernel second = code.get_kernel("second");
    const Buffer sum = upload(std::vector<int>{0});
    const Buffer seen = upload(std::vector<int>{0});
    const LaunchConfig plain{.grid = 8, .block = 64};
    launch(stream(), plain, first, sum);
    LaunchConfig dependent = plain;
    dependent.programmatic_stream_serialization = true;
    launch(stream(), dependent, second, sum, seen);
    EXPECT_EQ(download<int>(seen), std::vector{8 * 64});
}

TEST_F(DeviceLaunch, a_launch_completion_event_is_done_with_the_kernel) {
    const Kernel none = compile("extern \"C\" __global__ void none() {}").get_kernel("none");
    const Event event = device().create_event();
    launch(stream(), {.priority = stream().priority(), .launch_completion_event = event}, none);
    stream().sync();
    EXPECT_NO_THROW(event.sync());
    EXPECT_TRUE(event.is_done());
}

TEST_F(DeviceLaunch, a_cooperative_grid_that_is_too_large_gives_the_numbers) {
    const Kernel none = compile("extern \"C\" __global__ void none() {}").get_kernel("none");
    launch(stream(), {.grid = 2, .block = 32, .is_cooperative = true}, none);
    stream().sync();
    expect_error<LaunchError>(
        [&] { launch(stream(), {.grid = 1'000'000, .block = 1024, .is_cooperative = true}, none); },
        {"number of blocks is 1000000", "multiprocessors", "(720)"});
}

TEST_F(DeviceLaunch, threads_share_a_kernel_and_a_configuration) {
    constexpr std::size_t THREADS = 4;
    constexpr int LAUNCHES = 50;
    const Kernel add = compile("extern \"C\" __global__ void add(int* x, int n) { "
                               "atomicAdd(x, n); }")
                           .get_kernel("add");
    const LaunchConfig config{.grid = 2, .block = 32};
    const Buffer sum = upload(std::vector<int>{0});
    stream().sync();
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < THREADS; ++i) {
            threads.emplace_back([&] {
                const Stream own = device().create_stream();
                for (int j = 0; j < LAUNCHES; ++j) {
                    launch(own, config, add, sum, 1);
                }
                own.sync();
            });
        }
    }
    EXPECT_EQ(download<int>(sum), std::vector{static_cast<int>(THREADS) * LAUNCHES * 64});
}

TEST_F(DeviceLaunch, a_kernel_outlives_its_code) {
    Buffer out = upload(std::vector<int>{0});
    {
        ObjectCode code = compile("extern \"C\" __global__ void one(int* x) { *x = 1; }");
        const Kernel one = code.get_kernel("one");
        code.close();
        launch(stream(), {}, one, out);
        EXPECT_EQ(download<int>(out), std::vector{1});
    }
}

} // namespace
} // namespace cuprum
