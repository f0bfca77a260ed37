// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures how the emulated device scales with its workers: kernels, many streams, empty blocks and
// empty launches with 1, 2, 4, 8 ... workers; and a copy, arithmetic and a matrix product in native
// code with as many threads.
//
// Virtual processors may share cores with each other and with other machines, and then run at half
// speed for a while. So the products take turns with native code that needs nothing but the
// processors: arithmetic on vectors, and integer instructions. Lines at the end compare how the
// products and the instructions scale.
//
// The number of workers is fixed once the driver has started. The program therefore runs itself
// once per number of workers and round. The table shows the best time of all rounds.
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
extern "C" __global__ void count_data(unsigned* bins, const unsigned* data, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(bins + ((data[i] + i * 2654435761u) >> 24), 1u);
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
constexpr unsigned STRIDING_BLOCKS = 1024; // of the histogram with a loop
constexpr unsigned EMPTY_BLOCKS = 100'000;
constexpr int STREAMS = 64;
constexpr int LAUNCHES_PER_STREAM = 16;
constexpr unsigned SMALL_BLOCKS = 4;
constexpr int EMPTY_LAUNCHES = 2000;
// Enough that starting the threads takes no time in comparison.
constexpr int ARITHMETIC_STEPS = 64'000'000;
constexpr int REPEATS = 5;

constexpr int INSTRUCTION_STEPS = 64'000'000;
// How often the products take turns with native code, for each number of workers and round.
constexpr int TURNS = 20;

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

/// Measures the products in turns with native code, which shows what the processors allow then.
void measure_products(unsigned workers, const cuprum::Stream& stream, const cuprum::Kernel& naive,
                      const cuprum::Kernel& tiled, const cuprum::Buffer& factor,
                      const cuprum::Buffer& product) {
    const cuprum::LaunchConfig by_tile{.grid = {SIZE / 16, SIZE / 16}, .block = {16, 16}};
    const auto run = [&](const cuprum::Kernel& kernel) {
        return time_ms([&] {
            cuprum::launch(stream, by_tile, kernel, factor, factor, product, SIZE);
            stream.sync();
        });
    };
    const native::Kernels& host = native::FOR_THIS_MACHINE;
    host.use_threads(workers);
    for (int turn = 0; turn < TURNS; ++turn) {
        print("arithmetic", time_ms([&] { host.arithmetic(ARITHMETIC_STEPS); }));
        print("instructions", time_ms([&] { host.instructions(INSTRUCTION_STEPS); }));
        print("naive_product", run(naive));
        print("tiled_product", run(tiled));
    }
}

/// Measures everything with the number of workers that the environment sets.
int measure(unsigned workers) {
    const cuprum::Device device(0);
    if (!device.is_emulated()) {
        std::fprintf(stderr, "emulator_scaling: set CUPRUM_DRIVER to the emulated device\n");
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
    print("native_product", native_product_ms(workers));
    const auto run = [&](const char* name, const cuprum::LaunchConfig& config, auto... arguments) {
        const auto kernel = code.get_kernel(name);
        return best_ms([&] {
            cuprum::launch(stream, config, kernel, arguments...);
            stream.sync();
        });
    };
    const cuprum::LaunchConfig by_float{.grid = FLOATS / 256, .block = 256};
    print("saxpy", run("saxpy", by_float, 2.0F, x, y, FLOATS));
    measure_products(workers, stream, code.get_kernel("matmul"), code.get_kernel("tiled"), x, y);
    const auto is_counted = [&](std::uint64_t runs) {
        std::vector<std::uint32_t> counts(BINS);
        bins.copy_to_host(counts, stream);
        stream.sync();
        std::uint64_t total = 0;
        for (const std::uint32_t count : counts) {
            total += count;
        }
        if (total != FLOATS * runs) {
            std::fprintf(stderr, "emulator_scaling: the histogram counted %llu\n",
                         static_cast<unsigned long long>(total));
        }
        return total == FLOATS * runs;
    };
    print("histogram", run("count", by_float, bins, FLOATS));
    if (!is_counted(REPEATS + 1)) {
        return 1;
    }
    const cuprum::LaunchConfig striding{.grid = STRIDING_BLOCKS, .block = 256};
    print("striding_histogram", run("count_data", striding, bins, x, FLOATS));
    if (!is_counted(2 * (REPEATS + 1))) {
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

/// Runs this program with a number of workers and keeps the better times.
bool add_round(const std::string& program, unsigned workers, Figures& best) {
    const std::string command = "CUPRUM_EMULATOR_WORKERS=" + std::to_string(workers) + " '" +
                                program + "' --measure " + std::to_string(workers);
    std::FILE* const output = ::popen(command.c_str(), "r");
    if (output == nullptr) {
        return false;
    }
    char name[64];
    double milliseconds = 0;
    while (std::fscanf(output, "%63s %lf", name, &milliseconds) == 2) {
        const auto [entry, is_new] = best[name].try_emplace(workers, milliseconds);
        entry->second = std::min(entry->second, milliseconds);
    }
    return ::pclose(output) == 0;
}

/// The rows of the table: the name of a figure, its title, and whether workers should speed it up.
struct Row {
    const char* name;
    const char* title;
    bool is_scaled;
};

constexpr Row ROWS[] = {
    {"copy", "native copy of 16M floats (ms)", true},
    {"arithmetic", "native arithmetic on vectors (ms)", true},
    {"instructions", "native integer instructions (ms)", true},
    {"native_product", "native product 768^3 (ms)", true},
    {"saxpy", "saxpy of 16M floats (ms)", true},
    {"naive_product", "naive product 768^3 (ms)", true},
    {"tiled_product", "tiled product 768^3 (ms)", true},
    {"histogram", "histogram of 16M, 256 bins (ms)", true},
    {"striding_histogram", "the same of memory, in a loop (ms)", true},
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
    const auto speedup = [&](const char* name, unsigned count) {
        return best[name][workers.front()] / best[name][count];
    };
    const auto print_row = [&](const char* title, const auto& value) {
        std::printf("%-38s", title);
        for (const unsigned count : workers) {
            std::printf(" %8.2f", value(count));
        }
    };
    std::printf("%-38s", "workers");
    for (const unsigned count : workers) {
        std::printf(" %8u", count);
    }
    std::printf("    1 worker / %u\n", workers.back());
    for (const Row& row : ROWS) {
        print_row(row.title, [&](unsigned count) { return best[row.name][count]; });
        if (row.is_scaled) {
            std::printf("    %.1f", speedup(row.name, workers.back()));
        }
        std::printf("\n");
    }
    for (const auto& [name, title] :
         {std::pair{"naive_product", "naive product, speedup / instructions'"},
          std::pair{"tiled_product", "tiled product, speedup / instructions'"}}) {
        print_row(title, [&, name = name](unsigned count) {
            return speedup(name, count) / speedup("instructions", count);
        });
        std::printf("\n");
    }
    print_row("saxpy, share of the copy bandwidth", [&](unsigned count) {
        return 1.5 * best["copy"][count] / best["saxpy"][count]; // it moves three floats, not two
    });
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
