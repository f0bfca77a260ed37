// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compares kernels of many kinds with native code, which the compiler vectorises as far as it can
// (-O3 -ffast-math -fopenmp). Both sides take turns in one process with equally many threads. The
// figures are processor time of the whole process, and elapsed time. Each result is checked.
//
//   suite [--only NAME,NAME,...] [--workers N] [--turns N] [--json FILE] [--ptx FOLDER] [--list]
//
// --ptx writes the code that NVRTC produced, and measures nothing.

#include "suite/suite.hpp"

#include "bare_driver.hpp"
#include "kernels/turns.hpp"

#include <cuprum/cuprum.hpp>

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

namespace suite {

namespace {

std::vector<Kernel>& kernels() {
    static std::vector<Kernel> all;
    return all;
}

struct Driver {
#define FUNCTION(name, symbol) decltype(&::name) name##_ = bare::find<decltype(&::name)>(symbol)
    FUNCTION(cuMemAlloc, "cuMemAlloc_v2");
    FUNCTION(cuMemFree, "cuMemFree_v2");
    FUNCTION(cuMemcpyHtoD, "cuMemcpyHtoD_v2");
    FUNCTION(cuMemcpyDtoH, "cuMemcpyDtoH_v2");
    FUNCTION(cuLaunchKernel, "cuLaunchKernel");
    FUNCTION(cuFuncSetAttribute, "cuFuncSetAttribute");
    FUNCTION(cuCtxSynchronize, "cuCtxSynchronize");
#undef FUNCTION
};

const Driver& driver() {
    static const Driver functions;
    return functions;
}

/// An array, whatever its type.
struct Stored {
    CUdeviceptr device = 0;
    std::size_t bytes = 0;
    bool is_compared = false;
    std::function<void()> restore;
    std::function<double(double)> error;
};

template <typename T>
double error_of(const std::vector<T>& native, const std::vector<T>& device, double outliers) {
    double squares = 0;
    for (const T value : native) {
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const double mean = std::sqrt(squares / static_cast<double>(native.size()));
    std::vector<double> errors;
    for (std::size_t i = 0; i < native.size(); ++i) {
        if (native[i] == device[i]) {
            continue;
        }
        const double right = static_cast<double>(native[i]);
        const double error =
            std::abs(static_cast<double>(device[i]) - right) / (std::abs(right) + mean);
        errors.push_back(std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
    }
    const auto ignored = static_cast<std::size_t>(outliers * static_cast<double>(native.size()));
    if (errors.size() <= ignored) {
        return 0;
    }
    std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(ignored),
                     errors.end(), std::greater<>());
    return errors[ignored];
}

cuprum::ObjectCode compile(const Kernel& kernel) {
    cuprum::ProgramOptions options;
    if (kernel.arch[0] != '\0') {
        options.arch = kernel.arch;
    }
    return cuprum::Program(kernel.source, options).compile(cuprum::CodeType::Ptx);
}

} // namespace

struct Bench::State {
    cuprum::ObjectCode code;
    std::vector<Stored> arrays;
    std::map<std::string, cuprum::Kernel> loaded;
};

Bench::Bench(const Kernel& kernel)
    : state_(std::make_unique<State>(State{.code = compile(kernel), .arrays = {}, .loaded = {}})) {
    kernel.prepare(*this);
}

Bench::~Bench() {
    for (const Stored& each : state_->arrays) {
        driver().cuMemFree_(each.device);
    }
}

template <typename T>
Array<T> Bench::add(std::vector<T> values, bool is_restored, bool is_compared) {
    Stored stored{.bytes = values.size() * sizeof(T),
                  .is_compared = is_compared,
                  .restore = nullptr,
                  .error = nullptr};
    bare::check(driver().cuMemAlloc_(&stored.device, stored.bytes), "cuMemAlloc");
    const auto host = std::make_shared<std::vector<T>>(values);
    const auto upload = [device = stored.device, bytes = stored.bytes](const std::vector<T>& from) {
        bare::check(driver().cuMemcpyHtoD_(device, from.data(), bytes), "cuMemcpyHtoD");
    };
    upload(values);
    if (is_restored) {
        stored.restore = [host, upload, values] {
            *host = values;
            upload(values);
        };
    }
    stored.error = [host, device = stored.device](double outliers) {
        std::vector<T> result(host->size());
        bare::check(driver().cuMemcpyDtoH_(result.data(), device, result.size() * sizeof(T)),
                    "cuMemcpyDtoH");
        return error_of(*host, result, outliers);
    };
    const Array<T> array{.host = host->data(), .device = stored.device};
    state_->arrays.push_back(std::move(stored));
    return array;
}

template <typename T>
Array<T> Bench::input(std::vector<T> values) {
    return add(std::move(values), false, false);
}

template <typename T>
Array<T> Bench::output(std::vector<T> values) {
    return add(std::move(values), true, true);
}

template <typename T>
Array<T> Bench::scratch(std::vector<T> values) {
    return add(std::move(values), true, false);
}

#define INSTANTIATE(T)                                                                             \
    template Array<T> Bench::input(std::vector<T>);                                                \
    template Array<T> Bench::output(std::vector<T>);                                               \
    template Array<T> Bench::scratch(std::vector<T>);
INSTANTIATE(std::uint8_t)
INSTANTIATE(std::int32_t)
INSTANTIATE(std::uint32_t)
INSTANTIATE(std::uint64_t)
INSTANTIATE(float)
INSTANTIATE(double)
#ifdef CUPRUM_SUITE_HAS_HALF
INSTANTIATE(_Float16)
#endif
#undef INSTANTIATE

void Bench::launch_with(const char* name, Extent grid, Extent block, void** arguments) const {
    auto found = state_->loaded.find(name);
    if (found == state_->loaded.end()) {
        found = state_->loaded.emplace(name, state_->code.get_kernel(name)).first;
        if (shared_bytes > 48 * 1024) {
            bare::check(
                driver().cuFuncSetAttribute_(reinterpret_cast<CUfunction>(found->second.handle()),
                                             CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(shared_bytes)),
                "cuFuncSetAttribute");
        }
    }
    bare::check(driver().cuLaunchKernel_(reinterpret_cast<CUfunction>(found->second.handle()),
                                         grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                         shared_bytes, nullptr, arguments, nullptr),
                "cuLaunchKernel");
}

int Bench::read(Array<int> array) const {
    int value = 0;
    bare::check(driver().cuMemcpyDtoH_(&value, array.device, sizeof value), "cuMemcpyDtoH");
    return value;
}

void Bench::restore() {
    for (const Stored& each : state_->arrays) {
        if (each.restore) {
            each.restore();
        }
    }
}

double Bench::error(double outliers) const {
    double worst = 0;
    for (const Stored& each : state_->arrays) {
        if (each.is_compared) {
            worst = std::max(worst, each.error(outliers));
        }
    }
    return worst;
}

void Bench::sync() const {
    bare::check(driver().cuCtxSynchronize_(), "cuCtxSynchronize");
}

Entry::Entry(Kernel kernel) {
    kernels().push_back(std::move(kernel));
}

namespace {

/// The options of the command line.
struct Options {
    std::vector<std::string> only;
    int workers = 2;
    int turns = 5;
    std::string json;
    std::string ptx;
    bool is_list = false;
};

Options read_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--list") {
            options.is_list = true;
        } else if (i + 1 == argc) {
            i = argc;
        } else if (name == "--workers") {
            options.workers = std::atoi(argv[++i]);
        } else if (name == "--turns") {
            options.turns = std::max(1, std::atoi(argv[++i]));
        } else if (name == "--json") {
            options.json = argv[++i];
        } else if (name == "--ptx") {
            options.ptx = argv[++i];
        } else if (name == "--only") {
            const std::string names = argv[++i];
            for (std::size_t begin = 0; begin <= names.size();) {
                const std::size_t end = std::min(names.find(',', begin), names.size());
                options.only.push_back(names.substr(begin, end - begin));
                begin = end + 1;
            }
        } else {
            i = argc;
        }
        if (i == argc) {
            std::fprintf(stderr, "usage: suite [--only NAME,NAME,...] [--workers N] [--turns N] "
                                 "[--json FILE] [--ptx FOLDER] [--list]\n");
            std::exit(2);
        }
    }
    return options;
}

/// Sets what both sides read when they start. OpenMP reads its variables before `main`, so the
/// program starts itself again.
void set_environment(const Options& options, char** argv) {
#ifdef CUPRUM_SUITE_ISA
    setenv("CUPRUM_EMULATOR_ISA", CUPRUM_SUITE_ISA, 1);
#endif
    setenv("CUPRUM_EMULATOR_WORKERS", std::to_string(options.workers).c_str(), 1);
    if (std::getenv("OMP_WAIT_POLICY") == nullptr) {
        // Threads that wait actively would add to the processor time of either side.
        setenv("OMP_WAIT_POLICY", "passive", 1);
        execv("/proc/self/exe", argv);
    }
    omp_set_num_threads(options.workers);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Result {
    turns::Times device;
    turns::Times native;
    double error = 0;

    [[nodiscard]] double ratio(std::vector<double> turns::Times::* clock) const {
        std::vector<double> ratios;
        for (std::size_t i = 0; i < (device.*clock).size(); ++i) {
            ratios.push_back((device.*clock)[i] / (native.*clock)[i]);
        }
        return median(ratios);
    }
};

Result measure(const Kernel& kernel, int turns) {
    Bench bench(kernel);
    Result result;
    const auto take = [&](turns::Times& times, const std::function<void()>& body) {
        turns::take(times, [&] {
            body();
            bench.sync();
        });
    };
    for (int turn = -1; turn < turns; ++turn) {
        bench.restore();
        take(result.native, bench.native);
        take(result.device, bench.device);
        result.error = std::max(result.error, bench.error(kernel.outliers));
        if (turn < 0) { // the first turn touches memory and loads code
            result.native = {};
            result.device = {};
        }
    }
    return result;
}

/// Code for `sm_90a` runs on exactly this architecture.
bool can_run(const Kernel& kernel) {
    return kernel.arch[0] == '\0' || "sm_" + cuprum::Device(0).arch() + "a" == kernel.arch;
}

double geometric_mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
        sum += std::log(value);
    }
    return std::exp(sum / static_cast<double>(values.size()));
}

int run(const Options& options) {
    std::vector<double> ratios;
    std::vector<double> clock_ratios;
    std::string worst;
    std::string wrong;
    std::string json;
    std::printf("%-20s %9s %9s %7s %9s  %s\n", "kernel", "device ms", "native ms", "ratio",
                "by clock", "of the native side");
    for (const Kernel& kernel : kernels()) {
        const auto& only = options.only;
        if (!only.empty() && std::find(only.begin(), only.end(), kernel.name) == only.end()) {
            continue;
        }
        if (!can_run(kernel)) {
            std::printf("%-20s needs %s\n", kernel.name, kernel.arch);
            continue;
        }
        const Result result = measure(kernel, options.turns);
        const bool is_right = result.error <= kernel.tolerance;
        const double ratio = result.ratio(&turns::Times::processor);
        ratios.push_back(ratio);
        clock_ratios.push_back(result.ratio(&turns::Times::wall));
        if (ratio >= *std::max_element(ratios.begin(), ratios.end())) {
            worst = kernel.name;
        }
        std::printf("%-20s %9.2f %9.2f %7.2f %9.2f  %s\n", kernel.name,
                    median(result.device.processor), median(result.native.processor), ratio,
                    clock_ratios.back(), kernel.difference);
        if (!is_right) {
            std::printf("%-20s WRONG: error %g, tolerance %g\n", "", result.error,
                        kernel.tolerance);
            wrong += std::string(" ") + kernel.name;
        }
        std::fflush(stdout);
        json += (json.empty() ? "" : ",\n") + (std::string(" \"") + kernel.name) +
                "\": {\"ratio\": " + std::to_string(ratio) +
                ", \"is_right\": " + (is_right ? "true" : "false") + ", \"difference\": \"" +
                kernel.difference + "\", \"device\": " + turns::json(result.device) +
                ", \"native\": " + turns::json(result.native) + "}";
    }
    if (ratios.empty()) {
        std::fprintf(stderr, "suite: no such kernel; --list shows all names\n");
        return 2;
    }
    std::printf("%zu kernels, %d threads: geometric mean %.2f (by clock %.2f), worst %.2f (%s)\n",
                ratios.size(), options.workers, geometric_mean(ratios),
                geometric_mean(clock_ratios), *std::max_element(ratios.begin(), ratios.end()),
                worst.c_str());
    if (!options.json.empty()) {
        std::ofstream(options.json) << "{\n" << json << "\n}\n";
    }
    if (!wrong.empty()) {
        std::printf("wrong results:%s\n", wrong.c_str());
        return 1;
    }
    return 0;
}

void write_ptx(const std::string& folder) {
    for (const Kernel& kernel : kernels()) {
        const cuprum::ObjectCode code = compile(kernel);
        const auto bytes = code.code();
        std::ofstream(folder + "/" + kernel.name + ".ptx")
            << reinterpret_cast<const char*>(bytes.data());
    }
}

} // namespace

} // namespace suite

int main(int argc, char** argv) {
    using namespace suite;
    const Options options = read_options(argc, argv);
    std::sort(kernels().begin(), kernels().end(), [](const Kernel& left, const Kernel& right) {
        return std::strcmp(left.name, right.name) < 0;
    });
    if (options.is_list) {
        for (const Kernel& kernel : kernels()) {
            std::printf("%-20s %s\n", kernel.name, kernel.difference);
        }
        return 0;
    }
    set_environment(options, argv);
    const cuprum::Device device(0);
    device.set_current();
    if (!options.ptx.empty()) {
        write_ptx(options.ptx);
        return 0;
    }
    return run(options);
}
