// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures how the emulated device scales with its workers: kernels, many streams, empty blocks and
// empty launches with 1, 2, 4, 8 ... workers; and a copy, arithmetic and a matrix product in native
// code with as many threads.
//
// The matrix products also run in 1, 2, 4, 8 ... separate processes of one worker each, at the same
// time. These share nothing but the machine, so they show how far it lets the same code scale.
//
// The number of workers is fixed once the driver has started. The program therefore runs itself
// once per number of workers and round, and keeps the best time of all rounds.
//
//   emulator_scaling [--rounds N] [--workers N,N,...]     prints one table

#include "kernels/native.hpp"
#include "kernels/source.hpp"

#include <cuprum/cuprum.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

/// What it runs besides the kernels of kernels/source.hpp.
constexpr const char* MORE_KERNELS = R"(
extern "C" __global__ void empty() {}
extern "C" __global__ void count(unsigned* bins, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(bins + ((i * 2654435761u) >> 24), 1u);
}
extern "C" __global__ void small(float* out) {
    float v = threadIdx.x;
    for (int k = 0; k < 500; ++k) v = v * 0.5f + k;
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
extern "C" __global__ void stamp(unsigned long long* out) {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(*out));
}
)";

constexpr int FLOATS = 1 << 24;
constexpr int SIZE = 768; // of the matrices
constexpr int BINS = 256;
constexpr unsigned EMPTY_BLOCKS = 100'000;
constexpr int STREAMS = 64;
constexpr int LAUNCHES_PER_STREAM = 16;
constexpr unsigned SMALL_BLOCKS = 4;
constexpr int EMPTY_LAUNCHES = 2000;
// Enough that starting the threads takes no time in comparison.
constexpr int ARITHMETIC_STEPS = 64'000'000;
constexpr int REPEATS = 5;

// How long separate processes may take to prepare, and how long each product is repeated.
constexpr std::int64_t PREPARATION_NS = 2'000'000'000;
constexpr std::int64_t PRODUCT_NS = 600'000'000;
// Time for the last run of the product before to end.
constexpr std::int64_t PAUSE_NS = 600'000'000;

template <typename Body>
double time_ms(const Body& body) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    return took.count();
}

/// Returns the shortest of some runs, in milliseconds. One run before them is not counted.
template <typename Body>
double best_ms(const Body& body) {
    body();
    double best = 1e30;
    for (int i = 0; i < REPEATS; ++i) {
        best = std::min(best, time_ms(body));
    }
    return best;
}

/// Returns the time of `body(i)` for each i below `count`, every one on a thread of its own.
template <typename Body>
double parallel_ms(unsigned count, const Body& body) {
    return best_ms([&] {
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < count; ++i) {
            threads.emplace_back([&body, i] { body(i); });
        }
        for (auto& thread : threads) {
            thread.join();
        }
    });
}

/// Returns the time of a copy of all floats with `count` threads.
double copy_ms(unsigned count) {
    const std::vector<float> from(FLOATS, 1.0F);
    std::vector<float> to(FLOATS, 2.0F);
    const std::size_t part = FLOATS / count;
    return parallel_ms(count, [&](unsigned i) {
        std::memcpy(&to[part * i], &from[part * i], part * sizeof(float));
    });
}

/// Returns the time of a fixed number of multiply-adds in registers, shared by `count` threads. It
/// shows what the processor itself allows: it may be slower with all cores busy than with one, and
/// two of its processors may share one core.
double arithmetic_ms(unsigned count) {
    native::FOR_THIS_MACHINE.use_threads(count);
    return best_ms([] { native::FOR_THIS_MACHINE.arithmetic(ARITHMETIC_STEPS); });
}

/// Returns the time of the native product of two matrices with `count` threads.
double native_product_ms(unsigned count) {
    constexpr std::size_t ELEMENTS = std::size_t{SIZE} * SIZE;
    const std::vector<float> factor(ELEMENTS, 1.0F);
    std::vector<float> product(ELEMENTS);
    native::FOR_THIS_MACHINE.use_threads(count);
    return best_ms([&] {
        native::FOR_THIS_MACHINE.matmul(factor.data(), factor.data(), product.data(), SIZE);
    });
}

/// Returns the time of the clock that %globaltimer shows on the emulated device.
std::int64_t host_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void print(const char* name, double milliseconds) {
    std::printf("%s %.6f\n", name, milliseconds);
    std::fflush(stdout);
}

/// Measures what a launch that is waited for consists of: the call, the time until the kernel has
/// started, and the rest until the host knows that it is done.
void measure_stages(const cuprum::Device& device, const cuprum::Stream& stream,
                    const cuprum::Kernel& stamp) {
    const auto started = device.allocate(sizeof(std::uint64_t), stream);
    const cuprum::LaunchConfig one{.grid = 1, .block = 1};
    std::vector<double> calls;
    std::vector<double> starts;
    std::vector<double> ends;
    for (int i = 0; i < EMPTY_LAUNCHES; ++i) {
        const std::int64_t begin = host_ns();
        cuprum::launch(stream, one, stamp, started);
        const std::int64_t launched = host_ns();
        stream.sync();
        const std::int64_t end = host_ns();
        std::int64_t started_at = 0; // the memory of the emulated device is memory of the host
        std::memcpy(&started_at, started.data<std::int64_t>(), sizeof started_at);
        calls.push_back(static_cast<double>(launched - begin) * 1e-3);
        starts.push_back(static_cast<double>(started_at - begin) * 1e-3);
        ends.push_back(static_cast<double>(end - begin) * 1e-3);
    }
    print("stage_call_us", median(calls));
    print("stage_start_us", median(starts));
    print("stage_end_us", median(ends));
}

bool is_emulated(const cuprum::Device& device) {
    if (!device.is_emulated()) {
        std::fprintf(stderr, "emulator_scaling: set CUPRUM_DRIVER to the emulated device\n");
    }
    return device.is_emulated();
}

/// Returns the shortest run within PRODUCT_NS. Workers and separate processes have the same time to
/// find a moment without noise. One run before is not counted.
template <typename Body>
double best_ms_of_products(const Body& body) {
    body();
    double best = 1e30;
    for (const std::int64_t end = host_ns() + PRODUCT_NS; host_ns() < end;) {
        best = std::min(best, time_ms(body));
    }
    return best;
}

constexpr cuprum::LaunchConfig BY_TILE{.grid = {SIZE / 16, SIZE / 16}, .block = {16, 16}};

/// Measures the products from `start_ns` on, in host_ns() time. Other processes do the same then.
int measure_products(std::int64_t start_ns) {
    const cuprum::Device device(0);
    if (!is_emulated(device)) {
        return 1;
    }
    const auto stream = device.create_stream();
    const auto code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Ptx);
    constexpr std::size_t BYTES = sizeof(float) * SIZE * SIZE;
    const auto factor = device.allocate(BYTES, stream);
    const auto product = device.allocate(BYTES, stream);
    factor.fill(std::uint8_t{0}, stream);
    for (const auto& [name, title] : {std::pair{"matmul", "separate_naive_product"},
                                      std::pair{"tiled", "separate_tiled_product"}}) {
        const auto kernel = code.get_kernel(name);
        const auto run = [&] {
            cuprum::launch(stream, BY_TILE, kernel, factor, factor, product, SIZE);
            stream.sync();
        };
        if (host_ns() > start_ns) {
            std::fprintf(stderr, "emulator_scaling: a separate process was late\n");
            return 1;
        }
        std::this_thread::sleep_for(std::chrono::nanoseconds(start_ns - host_ns()));
        print(title, best_ms_of_products(run));
        start_ns += PRODUCT_NS + PAUSE_NS;
    }
    return 0;
}

/// Measures everything with the number of workers that the environment sets.
int measure(unsigned workers) {
    const cuprum::Device device(0);
    if (!is_emulated(device)) {
        return 1;
    }
    const auto stream = device.create_stream();
    const auto code =
        cuprum::Program(std::string(SOURCE) + MORE_KERNELS).compile(cuprum::CodeType::Ptx);
    const auto x = device.allocate(FLOATS * sizeof(float), stream);
    const auto y = device.allocate(FLOATS * sizeof(float), stream);
    const auto bins = device.allocate(BINS * sizeof(std::uint32_t), stream);
    x.fill(std::uint8_t{0}, stream);
    y.fill(std::uint8_t{0}, stream);
    bins.fill(std::uint8_t{0}, stream);

    print("copy", copy_ms(workers));
    print("arithmetic", arithmetic_ms(workers));
    print("native_product", native_product_ms(workers));
    const auto run = [&](const char* name, const cuprum::LaunchConfig& config, auto... arguments) {
        const auto kernel = code.get_kernel(name);
        return best_ms([&] {
            cuprum::launch(stream, config, kernel, arguments...);
            stream.sync();
        });
    };
    const auto run_product = [&](const char* name) {
        const auto kernel = code.get_kernel(name);
        return best_ms_of_products([&] {
            cuprum::launch(stream, BY_TILE, kernel, x, x, y, SIZE);
            stream.sync();
        });
    };
    const cuprum::LaunchConfig by_float{.grid = FLOATS / 256, .block = 256};
    print("saxpy", run("saxpy", by_float, 2.0F, x, y, FLOATS));
    print("naive_product", run_product("matmul"));
    print("tiled_product", run_product("tiled"));
    print("histogram", run("count", by_float, bins, FLOATS));
    std::vector<std::uint32_t> counts(BINS);
    bins.copy_to_host(counts, stream);
    stream.sync();
    std::uint64_t total = 0;
    for (const std::uint32_t count : counts) {
        total += count;
    }
    if (total != std::uint64_t{FLOATS} * (REPEATS + 1)) {
        std::fprintf(stderr, "emulator_scaling: the histogram counted %llu\n",
                     static_cast<unsigned long long>(total));
        return 1;
    }

    const auto small = code.get_kernel("small");
    const auto empty = code.get_kernel("empty");
    std::vector<cuprum::Stream> streams;
    for (int i = 0; i < STREAMS; ++i) {
        streams.push_back(device.create_stream());
    }
    const cuprum::LaunchConfig a_few{.grid = SMALL_BLOCKS, .block = 128};
    print("64_streams", best_ms([&] {
              for (int i = 0; i < LAUNCHES_PER_STREAM; ++i) {
                  for (const auto& each : streams) {
                      cuprum::launch(each, a_few, small, y);
                  }
              }
              for (const auto& each : streams) {
                  each.sync();
              }
          }));
    print("100000_blocks", run("empty", {.grid = EMPTY_BLOCKS, .block = 32}));
    const cuprum::LaunchConfig half{.grid = EMPTY_BLOCKS / 2, .block = 32};
    print("two_grids", best_ms([&] {
              cuprum::launch(streams[0], half, empty);
              cuprum::launch(streams[1], half, empty);
              streams[0].sync();
              streams[1].sync();
          }));
    const cuprum::LaunchConfig one{.grid = 1, .block = 32};
    print("launch_us", 1e3 / EMPTY_LAUNCHES * best_ms([&] {
                           for (int i = 0; i < EMPTY_LAUNCHES; ++i) {
                               cuprum::launch(stream, one, empty);
                           }
                           stream.sync();
                       }));
    print("launch_and_sync_us", 1e3 / EMPTY_LAUNCHES * best_ms([&] {
                                    for (int i = 0; i < EMPTY_LAUNCHES; ++i) {
                                        cuprum::launch(stream, one, empty);
                                        stream.sync();
                                    }
                                }));
    measure_stages(device, stream, code.get_kernel("stamp"));
    return 0;
}

using Figures = std::map<std::string, std::map<unsigned, double>>; // by name and workers

/// Starts this program with a number of workers.
std::FILE* start(const std::string& program, unsigned workers, const std::string& arguments) {
    const std::string command =
        "CUPRUM_EMULATOR_WORKERS=" + std::to_string(workers) + " '" + program + "' " + arguments;
    return ::popen(command.c_str(), "r");
}

/// Calls `add(name, milliseconds)` for every figure that a program prints. Returns whether the
/// program succeeded.
template <typename Add>
bool read_figures(std::FILE* output, const Add& add) {
    if (output == nullptr) {
        return false;
    }
    char name[64];
    double milliseconds = 0;
    while (std::fscanf(output, "%63s %lf", name, &milliseconds) == 2) {
        add(name, milliseconds);
    }
    return ::pclose(output) == 0;
}

void keep_better(Figures& best, const std::string& name, unsigned workers, double milliseconds) {
    const auto [entry, is_new] = best[name].try_emplace(workers, milliseconds);
    entry->second = std::min(entry->second, milliseconds);
}

/// Runs the products in so many separate processes at once. A figure is the time per product: the
/// mean of the processes' best times, divided by their number.
bool add_separate(const std::string& program, unsigned count, Figures& best) {
    const std::string arguments =
        "--measure-products " + std::to_string(host_ns() + PREPARATION_NS);
    std::vector<std::FILE*> outputs;
    for (unsigned i = 0; i < count; ++i) {
        outputs.push_back(start(program, 1, arguments));
    }
    std::map<std::string, double> sums;
    bool is_good = true;
    for (std::FILE* const output : outputs) {
        is_good = read_figures(output, [&](const char* name,
                                           double milliseconds) { sums[name] += milliseconds; }) &&
                  is_good;
    }
    for (const auto& [name, sum] : sums) {
        keep_better(best, name, count, sum / count / count);
    }
    return is_good;
}

/// Runs this program with a number of workers and keeps the better times.
bool add_round(const std::string& program, unsigned workers, Figures& best) {
    const auto add = [&](const char* name, double milliseconds) {
        keep_better(best, name, workers, milliseconds);
    };
    return read_figures(start(program, workers, "--measure " + std::to_string(workers)), add) &&
           add_separate(program, workers, best);
}

/// The rows of the table: the name of a figure, its title, and whether workers should speed it up.
struct Row {
    const char* name;
    const char* title;
    bool is_scaled;
};

constexpr Row ROWS[] = {
    {"copy", "native copy of 16M floats (ms)", true},
    {"arithmetic", "native arithmetic in registers (ms)", true},
    {"native_product", "native product 768^3 (ms)", true},
    {"saxpy", "saxpy of 16M floats (ms)", true},
    {"naive_product", "naive product 768^3 (ms)", true},
    {"tiled_product", "tiled product 768^3 (ms)", true},
    {"separate_naive_product", "naive, one process per worker (ms)", true},
    {"separate_tiled_product", "tiled, one process per worker (ms)", true},
    {"histogram", "histogram of 16M, 256 bins (ms)", true},
    {"64_streams", "64 streams, 1024 small kernels (ms)", true},
    {"100000_blocks", "100 000 empty blocks (ms)", false},
    {"two_grids", "the same as two grids at once (ms)", false},
    {"launch_us", "empty launch, one sync per 2000 (us)", false},
    {"launch_and_sync_us", "empty launch and sync (us)", false},
    {"stage_call_us", "  the launch returns after (us)", false},
    {"stage_start_us", "  the kernel reads a clock after (us)", false},
    {"stage_end_us", "  the sync returns after (us)", false},
};

void print_table(const std::vector<unsigned>& workers, Figures& best) {
    std::printf("%-38s", "workers");
    for (const unsigned count : workers) {
        std::printf(" %8u", count);
    }
    std::printf("    1 worker / %u\n", workers.back());
    for (const Row& row : ROWS) {
        auto& times = best[row.name];
        std::printf("%-38s", row.title);
        for (const unsigned count : workers) {
            std::printf(" %8.2f", times[count]);
        }
        if (row.is_scaled) {
            std::printf("    %.1f", times[workers.front()] / times[workers.back()]);
        }
        std::printf("\n");
    }
    const auto speedup = [&](const std::string& name, unsigned count) {
        return best[name][workers.front()] / best[name][count];
    };
    for (const char* const name : {"naive_product", "tiled_product"}) {
        const std::string separate = std::string("separate_") + name;
        std::printf("%-38s", (std::string(name) + ", speedup / processes").c_str());
        for (const unsigned count : workers) {
            std::printf(" %8.2f", speedup(name, count) / speedup(separate, count));
        }
        std::printf("\n");
    }
    std::printf("%-38s", "saxpy, share of the copy bandwidth");
    for (const unsigned count : workers) {
        // saxpy moves three floats per element, a copy two.
        std::printf(" %8.2f", 1.5 * best["copy"][count] / best["saxpy"][count]);
    }
    std::printf("\n");
}

} // namespace

int main(int argc, char** argv) {
    int rounds = 3;
    std::vector<unsigned> workers;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--measure" && i + 1 < argc) {
            return measure(static_cast<unsigned>(std::atoi(argv[i + 1])));
        }
        if (name == "--measure-products" && i + 1 < argc) {
            return measure_products(std::atoll(argv[i + 1]));
        }
        if (name == "--rounds" && i + 1 < argc) {
            rounds = std::atoi(argv[++i]);
        } else if (name == "--workers" && i + 1 < argc) {
            for (char* next = argv[++i]; *next != '\0';) {
                workers.push_back(static_cast<unsigned>(std::strtoul(next, &next, 10)));
                next += *next == ',' ? 1 : 0;
            }
        } else {
            std::fprintf(stderr, "usage: emulator_scaling [--rounds N] [--workers N,N,...]\n");
            return 2;
        }
    }
    if (workers.empty()) {
        const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
        for (unsigned count = 1; count <= cores; count *= 2) {
            workers.push_back(count);
        }
    }
    Figures best;
    for (int round = 0; round < rounds; ++round) {
        for (const unsigned count : workers) {
            if (count == 0 || !add_round(argv[0], count, best)) {
                std::fprintf(stderr, "emulator_scaling: no figures for %u workers\n", count);
                return 1;
            }
        }
    }
    print_table(workers, best);
}
