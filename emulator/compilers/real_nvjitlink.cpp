// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "compilers/real_nvjitlink.hpp"

#include "compilers/emulated_driver.hpp"
#include "compilers/real_library.hpp"

#include <dlfcn.h>

namespace cuprum::emulator::compilers {

namespace {

void* load() {
    return load_real(
        {.variable = "CUPRUM_NVJITLINK",
         .wheels = {"nvidia/cu13/lib/libnvJitLink.so.13",
                    "nvidia/nvjitlink/lib/libnvJitLink.so.12"},
         .names = {"libnvJitLink.so.13", "libnvJitLink.so.12"},
         .advice = "LTO-IR needs NVIDIA's nvJitLink, which was not found: install the package "
                   "nvidia-nvjitlink or a CUDA toolkit, or set CUPRUM_NVJITLINK to the path of "
                   "libnvJitLink.so.13"});
}

template <typename... Arguments>
int call(void* library, const char* name, Arguments... arguments) {
    void* const function = ::dlsym(library, name);
    if (function == nullptr) {
        throw CompileError(CUDA_ERROR_NOT_FOUND,
                           std::string("NVIDIA's nvJitLink has no function ") + name);
    }
    return reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
}

} // namespace

std::unique_ptr<RealNvJitLink> RealNvJitLink::open(const std::string& architecture,
                                                   const std::vector<std::string>& options) {
    static void* const library = load();
    std::unique_ptr<RealNvJitLink> link(new RealNvJitLink);
    link->library_ = library;
    std::vector<std::string> texts{"-arch=" + architecture, "-lto", "-ptx"};
    for (const std::string& option : options) {
        if (!option.starts_with("-arch=") && option != "-lto" && option != "-ptx") {
            texts.push_back(option);
        }
    }
    std::vector<const char*> pointers;
    for (const std::string& text : texts) {
        pointers.push_back(text.c_str());
    }
    link->check(call(library, "nvJitLinkCreate", &link->handle_,
                     static_cast<std::uint32_t>(pointers.size()), pointers.data()),
                "the options");
    return link;
}

RealNvJitLink::~RealNvJitLink() {
    if (handle_ != nullptr) {
        call(library_, "nvJitLinkDestroy", &handle_);
    }
}

void RealNvJitLink::add(int type, const void* data, std::size_t bytes, const std::string& name) {
    check(call(library_, "nvJitLinkAddData", handle_, type, data, bytes, name.c_str()), name);
}

std::string RealNvJitLink::complete() {
    check(call(library_, "nvJitLinkComplete", handle_), "the link");
    std::size_t size = 0;
    check(call(library_, "nvJitLinkGetLinkedPtxSize", handle_, &size), "the linked PTX");
    std::string ptx(size, '\0');
    check(call(library_, "nvJitLinkGetLinkedPtx", handle_, ptx.data()), "the linked PTX");
    while (!ptx.empty() && ptx.back() == '\0') {
        ptx.pop_back();
    }
    return ptx;
}

void RealNvJitLink::check(int result, const std::string& what) {
    if (result == 0) {
        return;
    }
    std::string log;
    std::size_t size = 0;
    if (handle_ != nullptr && call(library_, "nvJitLinkGetErrorLogSize", handle_, &size) == 0 &&
        size > 1) {
        log.resize(size);
        call(library_, "nvJitLinkGetErrorLog", handle_, log.data());
        log = log.c_str();
    }
    throw CompileError(CUDA_ERROR_INVALID_IMAGE, "NVIDIA's nvJitLink refuses " + what +
                                                     " with error " + std::to_string(result) +
                                                     (log.empty() ? "" : ": " + log));
}

} // namespace cuprum::emulator::compilers
