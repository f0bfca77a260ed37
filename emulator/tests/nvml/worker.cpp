// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A process that uses the emulated devices as the tests of NVML tell it, one command per line:
//
//     use D         makes the primary context of device D current
//     allocate N    allocates N bytes
//     free          frees what was allocated last
//     spin N B      runs a kernel of B blocks and N turns, and waits for it
//     start N B     runs it without waiting
//     copy N        copies N bytes to the device and back
//     fault         runs a kernel that writes to an address that does not exist
//     release       releases the context
//     fork          starts a child that lives until this process gets `reap`
//     reap          ends that child
//     exec          becomes a program that only waits for the end of its input
//     abort         dies of a signal
//     nvml          looks for the emulated NVML by its plain name
//
// It answers each command with the code of the last driver call.

#include <cuda.h>

#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace {

template <typename Function>
Function* function(const char* name) {
    static void* const library = ::dlopen(CUPRUM_EMULATOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void* const address = library == nullptr ? nullptr : ::dlsym(library, name);
    if (address == nullptr) {
        std::cerr << "the worker cannot use the driver: " << name << '\n';
        std::exit(EXIT_FAILURE);
    }
    return reinterpret_cast<Function*>(address);
}

#define TEXT(name) #name
#define EXPANDED_TEXT(name) TEXT(name)
#define CU(name) (*function<decltype(name)>(EXPANDED_TEXT(name)))

constexpr const char* PTX = R"(
.version 8.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 turns, .param .u64 target) {
    .reg .u64 %turns, %turn, %target;
    .reg .pred %more, %none;
    ld.param.u64 %turns, [turns];
    ld.param.u64 %target, [target];
    mov.u64 %turn, 0;
LOOP:
    add.u64 %turn, %turn, 1;
    setp.lt.u64 %more, %turn, %turns;
    @%more bra LOOP;
    setp.eq.u64 %none, %target, 0;
    @%none bra END;
    st.global.u64 [%target], %turn;
END:
    ret;
}
)";

class Worker {
public:
    CUresult run(const std::string& line) {
        std::istringstream words(line);
        std::string command;
        std::uint64_t first = 0;
        std::uint64_t second = 0;
        words >> command >> first >> second;
        if (command == "use") {
            return use(static_cast<CUdevice>(first));
        }
        if (command == "allocate") {
            memory_.push_back(0);
            return CU(cuMemAlloc)(&memory_.back(), first);
        }
        if (command == "free") {
            const CUdeviceptr last = memory_.back();
            memory_.pop_back();
            return CU(cuMemFree)(last);
        }
        if (command == "spin" || command == "start") {
            const CUresult code = launch(first, second, 0);
            return code == CUDA_SUCCESS && command == "spin" ? CU(cuCtxSynchronize)() : code;
        }
        if (command == "copy") {
            return copy(first);
        }
        if (command == "fault") {
            const CUresult code = launch(1, 1, 16);
            return code == CUDA_SUCCESS ? CU(cuCtxSynchronize)() : code;
        }
        if (command == "release") {
            return CU(cuDevicePrimaryCtxRelease)(device_);
        }
        if (command == "fork") {
            child_ = ::fork();
            if (child_ == 0) {
                ::pause();
            }
            return CUDA_SUCCESS;
        }
        if (command == "reap") {
            ::kill(child_, SIGKILL);
            ::waitpid(child_, nullptr, 0);
            return CUDA_SUCCESS;
        }
        if (command == "exec") {
            ::execlp("cat", "cat", nullptr);
        }
        if (command == "abort") {
            ::raise(SIGKILL);
        }
        if (command == "nvml") {
            void* const nvml = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
            return nvml != nullptr && ::dlsym(nvml, "cuprumEmulatorVersion") != nullptr
                       ? CUDA_SUCCESS
                       : CUDA_ERROR_NOT_FOUND;
        }
        return CUDA_ERROR_INVALID_VALUE;
    }

private:
    CUresult use(CUdevice device) {
        device_ = device;
        CUcontext context = nullptr;
        CUresult code = CU(cuInit)(0);
        code = code == CUDA_SUCCESS ? CU(cuDevicePrimaryCtxRetain)(&context, device) : code;
        return code == CUDA_SUCCESS ? CU(cuCtxSetCurrent)(context) : code;
    }

    CUresult launch(std::uint64_t turns, std::uint64_t blocks, std::uint64_t target) {
        CUmodule module = nullptr;
        CUfunction kernel = nullptr;
        CUresult code = CU(cuModuleLoadData)(&module, PTX);
        code = code == CUDA_SUCCESS ? CU(cuModuleGetFunction)(&kernel, module, "spin") : code;
        if (code != CUDA_SUCCESS) {
            return code;
        }
        void* arguments[] = {&turns, &target};
        return CU(cuLaunchKernel)(kernel, static_cast<unsigned>(blocks), 1, 1, 32, 1, 1, 0, nullptr,
                                  arguments, nullptr);
    }

    CUresult copy(std::uint64_t bytes) {
        std::vector<char> host(bytes);
        const CUdeviceptr device = memory_.back();
        const CUresult code = CU(cuMemcpyHtoD)(device, host.data(), bytes);
        return code == CUDA_SUCCESS ? CU(cuMemcpyDtoH)(host.data(), device, bytes) : code;
    }

    CUdevice device_ = 0;
    std::vector<CUdeviceptr> memory_;
    pid_t child_ = 0;
};

} // namespace

int main() {
    Worker worker;
    for (std::string line; std::getline(std::cin, line);) {
        std::cout << worker.run(line) << std::endl; // the test waits for it
    }
}
