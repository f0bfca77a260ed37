// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "compilers/kept_functions.hpp"

#include "compilers/emulated_driver.hpp"
#include "compilers/real_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace cuprum::emulator::compilers {

namespace {

constexpr std::string_view SPACES = " \t\r\n";
constexpr std::string_view FUNCTION = ".func";

template <typename... Arguments>
int call(void* library, const char* name, Arguments... arguments) {
    void* const function = ::dlsym(library, name);
    return function != nullptr ? reinterpret_cast<int (*)(Arguments...)>(function)(arguments...)
                               : -1;
}

/// Returns the name of the function whose declaration or definition begins here, or nothing.
std::string function_at(std::string_view ptx) {
    if (!ptx.starts_with(FUNCTION)) {
        return {};
    }
    std::size_t next = ptx.find_first_not_of(SPACES, FUNCTION.size());
    if (next != std::string_view::npos && ptx[next] == '(') { // what it returns
        next = ptx.find(')', next);
        next = next == std::string_view::npos ? next : ptx.find_first_not_of(SPACES, next + 1);
    }
    return next == std::string_view::npos
               ? std::string{}
               : std::string(ptx.substr(next, ptx.find_first_of(" \t\r\n(;", next) - next));
}

bool is_of_the_device(std::string_view name) {
    constexpr std::array<std::string_view, 5> names{"vprintf", "malloc", "free", "__assertfail",
                                                    "__assert_fail"};
    return std::ranges::find(names, name) != names.end() || name.starts_with("cuda") ||
           name.starts_with("__cudaCDP") || name.starts_with("__nv_");
}

} // namespace

std::set<std::string> external_functions(std::string_view ptx) {
    constexpr std::string_view external = ".extern";
    std::set<std::string> names;
    for (std::size_t at = ptx.find(external); at != std::string_view::npos;
         at = ptx.find(external, at + 1)) {
        const std::size_t next = ptx.find_first_not_of(SPACES, at + external.size());
        std::string name = next == std::string_view::npos ? "" : function_at(ptx.substr(next));
        if (!name.empty() && !is_of_the_device(name)) {
            names.insert(std::move(name));
        }
    }
    return names;
}

std::string with_visible(std::string_view ptx, const std::set<std::string>& functions) {
    std::string text;
    while (!ptx.empty()) {
        if (ptx.starts_with(FUNCTION) && functions.contains(function_at(ptx))) {
            text += ".visible ";
        }
        const std::size_t line = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
        text += ptx.substr(0, line);
        ptx.remove_prefix(line);
    }
    return text;
}

std::string use_of(const std::set<std::string>& functions, int major, unsigned sm) {
    std::string source;
    std::string body;
    for (const std::string& name : functions) {
        source += "extern \"C\" __device__ void " + name + "();\n";
        body += "*out++ = (void*)&" + name + ";\n";
    }
    source += "extern \"C\" __global__ void cuprum_kept_functions(void** out) {\n" + body + "}\n";
    void* const library = load_real(nvrtc_places(major));
    void* program = nullptr;
    if (call(library, "nvrtcCreateProgram", &program, source.c_str(), "kept_functions.cu", 0,
             nullptr, nullptr) != 0) {
        return {};
    }
    const std::string architecture = "-arch=compute_" + std::to_string(sm);
    const std::array<const char*, 3> options{architecture.c_str(), "-dlto", "-rdc=true"};
    std::string code;
    std::size_t size = 0;
    if (call(library, "nvrtcCompileProgram", program, 3, options.data()) == 0 &&
        call(library, "nvrtcGetLTOIRSize", program, &size) == 0) {
        code.resize(size);
        if (call(library, "nvrtcGetLTOIR", program, code.data()) != 0) {
            code.clear();
        }
    }
    call(library, "nvrtcDestroyProgram", &program);
    return code;
}

} // namespace cuprum::emulator::compilers
