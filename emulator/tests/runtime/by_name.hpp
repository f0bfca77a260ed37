// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls functions of a runtime library by their names, as programs do that were built with other
// headers than ours.

#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace by_name {

/// A kernel that adds five to the number at an address.
constexpr char ADD_FIVE[] = R"(
.version 8.0
.target sm_70
.address_size 64
.visible .entry add_five(.param .u64 where) {
    .reg .u64 %address;
    .reg .u32 %value;
    ld.param.u64 %address, [where];
    ld.global.u32 %value, [%address];
    add.u32 %value, %value, 5;
    st.global.u32 [%address], %value;
    ret;
}
)";

inline void check(bool holds, const char* text, int line) {
    if (!holds) {
        std::printf("line %d: not so: %s\n", line, text);
        std::exit(EXIT_FAILURE);
    }
}

#define EXPECT(condition) by_name::check(condition, #condition, __LINE__)

/// The runtime library, once `open()` has loaded it.
inline void* library = nullptr;

inline void open(const char* path) {
    library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    EXPECT(library != nullptr);
}

/// Calls a function by its name and version, as the loader binds it.
template <typename Status, typename... Arguments>
Status call(const char* name, const char* version, Arguments... arguments) {
    void* const function = ::dlvsym(library, name, version);
    if (function == nullptr) {
        std::printf("%s is missing\n", name);
        std::exit(EXIT_FAILURE);
    }
    return reinterpret_cast<Status (*)(Arguments...)>(function)(arguments...);
}

} // namespace by_name
