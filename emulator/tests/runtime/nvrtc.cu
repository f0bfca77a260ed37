// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Machine code that NVRTC compiles at run time: what a program loads instead runs on both devices.

#include "check.hpp"

#include <cuda.h>
#include <nvrtc.h>

#include <string>
#include <vector>

namespace {

constexpr char SOURCE[] = R"(extern "C" __global__ void add(int* value, int step) {
    *value += step;
})";

/// A program of NVRTC, compiled with one option.
struct Compiled {
    explicit Compiled(const char* option) {
        EXPECT(nvrtcCreateProgram(&program, SOURCE, "add.cu", 0, nullptr, nullptr) ==
               NVRTC_SUCCESS);
        EXPECT(nvrtcCompileProgram(program, 1, &option) == NVRTC_SUCCESS);
    }

    ~Compiled() { EXPECT(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS); }

    nvrtcProgram program = nullptr;
};

void machine_code_for_a_device_runs() {
    int major = 0;
    int minor = 0;
    OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    OK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    const std::string option = "-arch=sm_" + std::to_string(major) + std::to_string(minor);
    const Compiled compiled(option.c_str());
    std::size_t size = 0;
    EXPECT(nvrtcGetCUBINSize(compiled.program, &size) == NVRTC_SUCCESS && size > 0);
    std::vector<char> code(size);
    EXPECT(nvrtcGetCUBIN(compiled.program, code.data()) == NVRTC_SUCCESS);

    CUmodule module = nullptr;
    CUfunction add = nullptr;
    EXPECT(cuModuleLoadData(&module, code.data()) == CUDA_SUCCESS);
    EXPECT(cuModuleGetFunction(&add, module, "add") == CUDA_SUCCESS);
    int* value = nullptr;
    OK(cudaMallocManaged(&value, sizeof(int)));
    *value = 40;
    int step = 2;
    void* arguments[] = {&value, &step};
    EXPECT(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr) == CUDA_SUCCESS);
    OK(cudaDeviceSynchronize());
    EXPECT(*value == 42);
    OK(cudaFree(value));
    EXPECT(cuModuleUnload(module) == CUDA_SUCCESS);
}

void without_machine_code_there_is_none() {
    const Compiled compiled("-arch=compute_80");
    std::size_t size = 1;
    EXPECT(nvrtcGetCUBINSize(compiled.program, &size) == NVRTC_SUCCESS && size == 0);
    EXPECT(nvrtcGetCUBIN(compiled.program, nullptr) != NVRTC_SUCCESS);
    EXPECT(nvrtcGetPTXSize(compiled.program, &size) == NVRTC_SUCCESS && size > 1);
}

void errors_are_those_of_nvrtc() {
    std::size_t size = 0;
    EXPECT(nvrtcGetCUBINSize(nullptr, &size) == NVRTC_ERROR_INVALID_PROGRAM);
    EXPECT(nvrtcGetCUBIN(nullptr, nullptr) != NVRTC_SUCCESS);
}

} // namespace

int main() {
    OK(cudaFree(nullptr));
    machine_code_for_a_device_runs();
    without_machine_code_there_is_none();
    errors_are_those_of_nvrtc();
    return 0;
}
