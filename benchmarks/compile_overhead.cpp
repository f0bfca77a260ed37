// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures the cost that Program::compile() adds to NVRTC. Both sides compile the same trivial
// kernel with the same library and options, in turns. Writes JSON: the median elapsed and processor
// times of each side in milliseconds, and the median ratio of Cuprum to plain NVRTC.

#include <cuprum/cuprum.hpp>

#include <nvrtc.h>

#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr const char* SOURCE = "extern \"C\" __global__ void scale(float* x, float a, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n) x[i] *= a;\n"
                               "}\n";
constexpr const char* ARCH = "-arch=sm_90";
constexpr int WARM_UPS = 5;
constexpr int TURNS = 60;

/// The functions of NVRTC that a compilation needs, from the library that Cuprum uses.
struct Nvrtc {
    template <typename Function>
    Function* find(const char* name) const {
        return reinterpret_cast<Function*>(::dlsym(library, name));
    }

    void* library = [] {
        for (const cuprum::LibraryInfo& info : cuprum::compiler_libraries()) {
            if (info.name == "NVRTC" && !info.path.empty()) {
                return ::dlopen(info.path.c_str(), RTLD_NOW | RTLD_LOCAL);
            }
        }
        std::fputs("compile_overhead: NVRTC was not found\n", stderr);
        std::exit(1);
    }();
    decltype(&nvrtcCreateProgram) create = find<decltype(nvrtcCreateProgram)>("nvrtcCreateProgram");
    decltype(&nvrtcCompileProgram) compile =
        find<decltype(nvrtcCompileProgram)>("nvrtcCompileProgram");
    decltype(&nvrtcGetProgramLogSize) log_size =
        find<decltype(nvrtcGetProgramLogSize)>("nvrtcGetProgramLogSize");
    decltype(&nvrtcGetProgramLog) log = find<decltype(nvrtcGetProgramLog)>("nvrtcGetProgramLog");
    decltype(&nvrtcGetCUBINSize) cubin_size =
        find<decltype(nvrtcGetCUBINSize)>("nvrtcGetCUBINSize");
    decltype(&nvrtcGetCUBIN) cubin = find<decltype(nvrtcGetCUBIN)>("nvrtcGetCUBIN");
    decltype(&nvrtcDestroyProgram) destroy =
        find<decltype(nvrtcDestroyProgram)>("nvrtcDestroyProgram");
};

void check(nvrtcResult status) {
    if (status != NVRTC_SUCCESS) {
        std::fprintf(stderr, "compile_overhead: NVRTC failed with %d\n", static_cast<int>(status));
        std::exit(1);
    }
}

void compile_plainly(const Nvrtc& nvrtc) {
    nvrtcProgram program = nullptr;
    const char* options[] = {ARCH};
    check(nvrtc.create(&program, SOURCE, "default_program", 0, nullptr, nullptr));
    check(nvrtc.compile(program, 1, options));
    std::size_t size = 0;
    check(nvrtc.log_size(program, &size));
    std::string text(size, '\0');
    check(nvrtc.log(program, text.data()));
    check(nvrtc.cubin_size(program, &size));
    std::vector<char> code(size);
    check(nvrtc.cubin(program, code.data()));
    check(nvrtc.destroy(&program));
}

void compile_with_cuprum() {
    const cuprum::Program program(SOURCE, {.arch = "sm_90"});
    static_cast<void>(program.compile(cuprum::CodeType::Cubin).code());
}

double now_ms(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The times of one side.
struct Times {
    std::vector<double> clock;
    std::vector<double> processor;
};

template <typename Compile>
void measure(Times& times, const Compile& compile) {
    const double clock = now_ms(CLOCK_MONOTONIC);
    const double processor = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    compile();
    times.processor.push_back(now_ms(CLOCK_PROCESS_CPUTIME_ID) - processor);
    times.clock.push_back(now_ms(CLOCK_MONOTONIC) - clock);
}

double median_ratio(const std::vector<double>& ours, const std::vector<double>& theirs) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        ratios.push_back(ours[i] / theirs[i]);
    }
    return median(ratios);
}

} // namespace

int main() {
    const Nvrtc nvrtc;
    const auto plain = [&nvrtc] { compile_plainly(nvrtc); };
    for (int i = 0; i < WARM_UPS; ++i) {
        plain();
        compile_with_cuprum();
    }
    Times ours;
    Times theirs;
    for (int turn = 0; turn < TURNS; ++turn) {
        if (turn % 2 == 0) { // each side goes first in half of the turns
            measure(theirs, plain);
            measure(ours, compile_with_cuprum);
        } else {
            measure(ours, compile_with_cuprum);
            measure(theirs, plain);
        }
    }
    std::printf("{\"cuprum\": {\"clock\": %.3f, \"processor\": %.3f},\n"
                " \"nvrtc\": {\"clock\": %.3f, \"processor\": %.3f},\n"
                " \"ratio\": {\"clock\": %.4f, \"processor\": %.4f}}\n",
                median(ours.clock), median(ours.processor), median(theirs.clock),
                median(theirs.processor), median_ratio(ours.clock, theirs.clock),
                median_ratio(ours.processor, theirs.processor));
}
