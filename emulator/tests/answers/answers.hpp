// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Questions to a driver, and its answers as lines of text.
//
// The same program asks a GPU's driver and the emulated device. A test compares the answers with
// those that were recorded on a GPU. Each group of questions runs in a process of its own, because
// a driver may crash on a handle that is not valid.

#pragma once

#include <cuda.h>

#include <cstdio>
#include <initializer_list>
#include <string>
#include <type_traits>

namespace answers {

/// Prints "name: code", the code by its name without "CUDA_".
inline CUresult say(const std::string& name, CUresult code, const std::string& more = {}) {
    const char* text = nullptr;
    cuGetErrorName(code, &text);
    const std::string whole = text != nullptr ? text : std::to_string(static_cast<int>(code));
    const std::string shown = code == CUDA_SUCCESS ? "ok" : whole.substr(5);
    std::printf("%s: %s%s%s\n", name.c_str(), shown.c_str(), more.empty() ? "" : " ", more.c_str());
    std::fflush(stdout);
    return code;
}

/// The same; what follows the code is made after the call, because it shows what the call wrote.
template <typename More>
    requires std::is_invocable_v<More>
CUresult say(const std::string& name, CUresult code, More more) {
    return say(name, code, more());
}

inline void say_value(const std::string& name, const std::string& value) {
    std::printf("%s = %s\n", name.c_str(), value.c_str());
    std::fflush(stdout);
}

template <typename... Numbers>
std::string list(Numbers... numbers) {
    std::string text;
    ((text += (text.empty() ? "" : " ") + std::to_string(numbers)), ...);
    return "(" + text + ")";
}

/// Makes a context current on device 0.
inline CUcontext begin() {
    cuInit(0);
    CUcontext context = nullptr;
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    return context;
}

inline CUDA_ARRAY3D_DESCRIPTOR shape(std::size_t width, std::size_t height, std::size_t depth,
                                     unsigned flags = 0, CUarray_format format = CU_AD_FORMAT_FLOAT,
                                     unsigned channels = 1) {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    descriptor.Width = width;
    descriptor.Height = height;
    descriptor.Depth = depth;
    descriptor.Format = format;
    descriptor.NumChannels = channels;
    descriptor.Flags = flags;
    return descriptor;
}

/// Creates an array that the questions need; prints a line only if that fails.
inline CUarray make(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    CUarray array = nullptr;
    const CUresult code = cuArray3DCreate(&array, &descriptor);
    if (code != CUDA_SUCCESS) {
        say("(make)", code);
    }
    return array;
}

/// A group of questions.
struct Group {
    const char* name;
    void (*ask)();
};

/// The groups of each source.
extern const std::initializer_list<Group> ARRAYS;
extern const std::initializer_list<Group> CALLS;
extern const std::initializer_list<Group> COPIES;
extern const std::initializer_list<Group> OBJECTS;
extern const std::initializer_list<Group> REFERENCES;
extern const std::initializer_list<Group> MAPPINGS;
extern const std::initializer_list<Group> CAPTURES;

} // namespace answers
