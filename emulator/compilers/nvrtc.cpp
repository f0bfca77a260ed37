// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for NVIDIA's libnvrtc.so.12 and .13. NVIDIA's library compiles. If the program asks
// for machine code, the stand-in asks for PTX instead and returns it in a fatbin.

#include "compilers/emulated_driver.hpp"
#include "compilers/real_library.hpp"

#include <dlfcn.h>

#include <cctype>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace cuprum::emulator::compilers;

namespace {

using Program = void*;

enum Result : int {
    SUCCESS = 0,
    INVALID_INPUT = 3,
    INTERNAL_ERROR = 11,
};

/// A program that was compiled for a device: the fatbin is made when it is asked for.
struct Compiled {
    std::string architecture; // such as "sm_90a"
    std::string fatbin;
};

class Programs {
public:
    static Programs& instance() {
        static Programs programs;
        return programs;
    }

    /// Remembers for what a program was compiled; without an architecture, forgets the program.
    void set(Program program, std::string architecture) {
        const std::lock_guard lock(mutex_);
        if (architecture.empty()) {
            compiled_.erase(program);
        } else {
            compiled_[program] = {std::move(architecture), {}};
        }
    }

    /// Returns the fatbin of a program, or nullptr if NVIDIA's library has the answer.
    const std::string* fatbin_of(Program program);

private:
    std::mutex mutex_;
    std::unordered_map<Program, Compiled> compiled_;
};

/// Loads NVRTC's second library from the folder of the first.
///
/// NVRTC opens it by its bare name when it first compiles. In Python's packages the loader does not
/// find it there, but a library that is loaded already needs no search.
void* with_builtins(void* library) {
    auto* const version = reinterpret_cast<int (*)(int*, int*)>(::dlsym(library, "nvrtcVersion"));
    int major = 0;
    int minor = 0;
    Dl_info place{};
    if (version != nullptr && version(&major, &minor) == SUCCESS &&
        ::dladdr(reinterpret_cast<const void*>(version), &place) != 0) {
        const std::string name =
            "libnvrtc-builtins.so." + std::to_string(major) + '.' + std::to_string(minor);
        const auto path = std::filesystem::path(place.dli_fname).replace_filename(name);
        (void)::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); // NVRTC reports that it is missing
    }
    return library;
}

void* real_library() {
    try {
        static void* const library = with_builtins(load_real(nvrtc_places(CUPRUM_NVRTC_MAJOR)));
        return library;
    } catch (const CompileError& error) {
        static std::once_flag once;
        std::call_once(once, [&] { std::cerr << "cuprum: " << error.what() << '\n'; });
        return nullptr;
    }
}

/// Returns NVIDIA's function of a name, or nullptr if there is none.
template <typename Function>
Function* real(const char* name) {
    void* const library = real_library();
    return library != nullptr ? reinterpret_cast<Function*>(::dlsym(library, name)) : nullptr;
}

template <typename... Arguments>
int call(const char* name, Arguments... arguments) {
    auto* const function = real<int(Arguments...)>(name);
    return function != nullptr ? function(arguments...) : INTERNAL_ERROR;
}

/// Replaces the device in the options by its virtual architecture. Returns the device, such as
/// "sm_90a", or nothing if the options ask for no machine code.
std::string ask_for_ptx(std::vector<std::string>& options) {
    std::string device;
    for (std::size_t index = 0; index < options.size(); ++index) {
        std::string& option = options[index];
        if (option == "-dlto" || option == "--dlink-time-opt") {
            return {}; // LTO-IR is not machine code
        }
        for (const std::string_view name : {"--gpu-architecture", "-arch"}) {
            const bool is_next = option == name && index + 1 < options.size();
            std::string& holder = is_next ? options[index + 1] : option;
            const std::size_t begin = is_next ? 0 : name.size() + 1;
            if (!is_next && !option.starts_with(std::string(name) + '=')) {
                continue;
            }
            if (std::string found = holder.substr(begin);
                found.starts_with("sm_") && parse_architecture(found) != 0) {
                device = std::move(found);
                holder.replace(begin, std::strlen("sm"), "compute");
            }
        }
    }
    return device;
}

int compile(Program program, int count, const char* const* options) {
    if (count < 0 || (count != 0 && options == nullptr)) {
        return INVALID_INPUT;
    }
    const std::vector<std::string> given(options, options + count);
    std::vector<std::string> texts = given;
    const std::string device = ask_for_ptx(texts);
    const std::vector<std::string>& used = device.empty() ? given : texts;
    std::vector<const char*> pointers;
    for (const std::string& text : used) {
        pointers.push_back(text.c_str());
    }
    const int result = call("nvrtcCompileProgram", program, count,
                            static_cast<const char* const*>(pointers.data()));
    Programs::instance().set(program, result == SUCCESS ? device : "");
    return result;
}

const std::string* Programs::fatbin_of(Program program) {
    const std::lock_guard lock(mutex_);
    const auto found = compiled_.find(program);
    if (found == compiled_.end()) {
        return nullptr;
    }
    std::string& fatbin = found->second.fatbin;
    std::size_t size = 0;
    if (fatbin.empty() && call("nvrtcGetPTXSize", program, &size) == SUCCESS && size != 0) {
        std::string ptx(size, '\0');
        if (call("nvrtcGetPTX", program, ptx.data()) == SUCCESS) {
            fatbin = wrap(ptx.c_str(), found->second.architecture);
        }
    }
    return &fatbin;
}

/// Runs a function's body. An exception, such as for lack of memory, is an internal error.
template <typename Body>
int guarded(Body&& body) noexcept {
    try {
        return body();
    } catch (...) {
        return INTERNAL_ERROR;
    }
}

} // namespace

#define CUPRUM_EXPORT extern "C" __attribute__((visibility("default")))
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the name of the function is needed as text.
#define CUPRUM_FORWARD(name, parameters, ...)                                                      \
    CUPRUM_EXPORT int name parameters {                                                            \
        return guarded([&] { return call(#name, __VA_ARGS__); });                                  \
    }

CUPRUM_EXPORT int nvrtcCompileProgram(Program program, int count, const char* const* options) {
    return guarded([&] { return compile(program, count, options); });
}

CUPRUM_EXPORT int nvrtcGetCUBINSize(Program program, std::size_t* size) {
    return guarded([&] {
        const std::string* const fatbin = Programs::instance().fatbin_of(program);
        if (fatbin == nullptr || size == nullptr) {
            return call("nvrtcGetCUBINSize", program, size);
        }
        *size = fatbin->size();
        return static_cast<int>(SUCCESS);
    });
}

CUPRUM_EXPORT int nvrtcGetCUBIN(Program program, char* cubin) {
    return guarded([&] {
        const std::string* const fatbin = Programs::instance().fatbin_of(program);
        if (fatbin == nullptr || cubin == nullptr) {
            return call("nvrtcGetCUBIN", program, cubin);
        }
        std::memcpy(cubin, fatbin->data(), fatbin->size());
        return static_cast<int>(SUCCESS);
    });
}

CUPRUM_EXPORT int nvrtcDestroyProgram(Program* program) {
    return guarded([&] {
        if (program != nullptr) {
            Programs::instance().set(*program, {});
        }
        return call("nvrtcDestroyProgram", program);
    });
}

CUPRUM_EXPORT const char* nvrtcGetErrorString(int result) {
    auto* const function = real<const char*(int)>("nvrtcGetErrorString");
    return function != nullptr ? function(result) : "NVRTC was not found";
}

CUPRUM_FORWARD(nvrtcVersion, (int* major, int* minor), major, minor)
CUPRUM_FORWARD(nvrtcGetNumSupportedArchs, (int* count), count)
CUPRUM_FORWARD(nvrtcGetSupportedArchs, (int* architectures), architectures)
CUPRUM_FORWARD(nvrtcCreateProgram,
               (Program * program, const char* source, const char* name, int count,
                const char* const* headers, const char* const* names),
               program, source, name, count, headers, names)
CUPRUM_FORWARD(nvrtcGetPTXSize, (Program program, std::size_t* size), program, size)
CUPRUM_FORWARD(nvrtcGetPTX, (Program program, char* ptx), program, ptx)
CUPRUM_FORWARD(nvrtcGetLTOIRSize, (Program program, std::size_t* size), program, size)
CUPRUM_FORWARD(nvrtcGetLTOIR, (Program program, char* code), program, code)
CUPRUM_FORWARD(nvrtcGetOptiXIRSize, (Program program, std::size_t* size), program, size)
CUPRUM_FORWARD(nvrtcGetOptiXIR, (Program program, char* code), program, code)
CUPRUM_FORWARD(nvrtcGetTileIRSize, (Program program, std::size_t* size), program, size)
CUPRUM_FORWARD(nvrtcGetTileIR, (Program program, char* code), program, code)
CUPRUM_FORWARD(nvrtcGetProgramLogSize, (Program program, std::size_t* size), program, size)
CUPRUM_FORWARD(nvrtcGetProgramLog, (Program program, char* log), program, log)
CUPRUM_FORWARD(nvrtcAddNameExpression, (Program program, const char* name), program, name)
CUPRUM_FORWARD(nvrtcGetLoweredName, (Program program, const char* name, const char** lowered),
               program, name, lowered)
CUPRUM_FORWARD(nvrtcGetPCHHeapSize, (std::size_t* size), size)
CUPRUM_FORWARD(nvrtcSetPCHHeapSize, (std::size_t size), size)
CUPRUM_FORWARD(nvrtcGetPCHCreateStatus, (Program program), program)
CUPRUM_FORWARD(nvrtcGetPCHHeapSizeRequired, (Program program, std::size_t* size), program, size)
CUPRUM_FORWARD(nvrtcSetFlowCallback,
               (Program program, int (*callback)(void*, void*), void* payload), program, callback,
               payload)
CUPRUM_FORWARD(nvrtcGetBundledHeadersInfo, (void* first, void* second, void* third, void* fourth),
               first, second, third, fourth)
CUPRUM_FORWARD(nvrtcInstallBundledHeaders, (void* first, void* second, void* third, void* fourth),
               first, second, third, fourth)
CUPRUM_FORWARD(nvrtcRemoveBundledHeaders, (void* first, void* second, void* third, void* fourth),
               first, second, third, fourth)
