// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A program whose kernel is compiled, under circumstances that its arguments name. The first one is
// the library. Prints "right" if the kernel's results are.

#include <cuda.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <vector>

namespace {

void* library = nullptr;

template <typename Function>
Function entry(const char* name) {
    return reinterpret_cast<Function>(::dlsym(library, name));
}

#define CALL(name, ...)                                                                            \
    if (const CUresult status = entry<decltype(&name)>(#name)(__VA_ARGS__);                        \
        status != CUDA_SUCCESS) {                                                                  \
        std::printf("%s: %d\n", #name, static_cast<int>(status));                                  \
        std::exit(1);                                                                              \
    }

/// A kernel that adds up in a loop, `values` numbers at a time, with barriers between them.
/// Compiling it takes the longer, the more of both there are.
std::string kernel(int values, int barriers) {
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n"
                       ".visible .entry add_up(.param .u64 out, .param .u32 rounds) {\n"
                       ".reg .pred p; .reg .b32 n, i, t; .reg .b64 a;\n.reg .b32 v<" +
                       std::to_string(values) +
                       ">;\nld.param.u32 n, [rounds];\nld.param.u64 a, [out];\n"
                       "mov.u32 t, %tid.x;\nmov.u32 i, 0;\n";
    for (int value = 0; value < values; ++value) {
        text += "add.u32 v" + std::to_string(value) + ", t, " + std::to_string(value) + ";\n";
    }
    text += "LOOP:\n";
    for (int barrier = 0; barrier < barriers; ++barrier) {
        for (int value = 1; value < values; ++value) {
            text += "add.u32 v" + std::to_string(value) + ", v" + std::to_string(value) + ", v" +
                    std::to_string(value - 1) + ";\n";
        }
        text += "bar.sync 0;\n";
    }
    text += "add.u32 i, i, 1;\nsetp.lt.u32 p, i, n;\n@p bra LOOP;\n"
            "mad.wide.u32 a, t, 4, a;\nst.global.u32 [a], v" +
            std::to_string(values - 1) + ";\nret;\n}\n";
    return text;
}

constexpr unsigned THREADS = 64;

void launch_and_check(CUdevice device, const std::string& text, int values, int barriers,
                      unsigned rounds) {
    CUcontext context = nullptr;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUdeviceptr out = 0;
    CALL(cuDevicePrimaryCtxRetain, &context, device)
    CALL(cuCtxSetCurrent, context)
    CALL(cuModuleLoadData, &module, text.c_str())
    CALL(cuModuleGetFunction, &function, module, "add_up")
    CALL(cuMemAlloc_v2, &out, THREADS * sizeof(unsigned))
    void* arguments[] = {&out, &rounds};
    CALL(cuLaunchKernel, function, 4, 1, 1, THREADS, 1, 1, 0, nullptr, arguments, nullptr)
    unsigned results[THREADS] = {};
    CALL(cuMemcpyDtoH_v2, results, out, sizeof results)
    bool is_right = true;
    for (unsigned thread = 0; thread < THREADS; ++thread) {
        std::vector<unsigned> all(static_cast<std::size_t>(values));
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = thread + static_cast<unsigned>(i);
        }
        for (unsigned round = 0; round < rounds * static_cast<unsigned>(barriers); ++round) {
            for (std::size_t i = 1; i < all.size(); ++i) {
                all[i] += all[i - 1];
            }
        }
        is_right = is_right && results[thread] == all.back();
    }
    std::printf("%s\n", is_right ? "right" : "WRONG");
}

/// Lets the system refuse executable memory from now on: mprotect(), and also mmap() if wanted.
void forbid_executable_memory(bool also_mmap) {
    const auto refuse_if_executable = [](std::vector<sock_filter>& program, unsigned call) {
        program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3));
        program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])));
        program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1));
        program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1));
    };
    std::vector<sock_filter> program;
    refuse_if_executable(program, SYS_mprotect);
    if (also_mmap) {
        refuse_if_executable(program, SYS_mmap);
    }
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    sock_fprog filter{.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0) {
        std::printf("no seccomp\n");
        std::exit(3);
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        return 2;
    }
    const std::string_view what = arguments[2];
    library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::printf("%s\n", ::dlerror());
        return 2;
    }
    CUdevice device = 0;
    CALL(cuInit, 0)
    CALL(cuDeviceGet, &device, 0)
    if (what == "no_code" || what == "no_library") {
        forbid_executable_memory(what == "no_library");
    }
    // Compiling the large kernel takes seconds.
    const bool is_large = what == "exit" || what == "fork" || what == "reset" || what == "unload";
    const int values = is_large ? 40 : 4;
    const int barriers = is_large ? 30 : 2;
    const std::string text = kernel(values, barriers);
    launch_and_check(device, text, values, barriers, is_large ? 2000 : 20000);
    if (what == "fork") {
        std::fflush(stdout);
        const pid_t child = ::fork();
        if (child == 0) {
            std::exit(0);
        }
        int status = -1;
        ::waitpid(child, &status, 0);
        std::printf("child: %d\n", status);
    } else if (what == "reset") {
        CALL(cuDevicePrimaryCtxReset_v2, device)
        launch_and_check(device, kernel(4, 2), 4, 2, 100);
    } else if (what == "unload") {
        ::dlclose(library);
        ::usleep(200'000); // the compiler still runs
    }
    return 0;
}
