// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// One of NVIDIA's libraries without its functions: each returns the library's own error.
//
// The build defines which: CUPRUM_ROWS is the list of names, CUPRUM_LIBRARY the library's name,
// CUPRUM_ERROR the error and CUPRUM_ERROR_NAME its name.

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

/// Says once which function was called.
[[maybe_unused]] long long refuse(const char* function, bool& is_said, long long result) {
    const char* const level = ::secure_getenv("CUPRUM_EMULATOR_LOG");
    if (!is_said && (level == nullptr || std::strcmp(level, "off") != 0)) {
        is_said = true;
        std::fprintf(stderr,
                     "cuprum emulator: error: %s was called, but NVIDIA's " CUPRUM_LIBRARY
                     " is not installed, and its machine code could not run on the emulated "
                     "device: the call returns %lld\n",
                     function, result);
    }
    return result;
}

} // namespace

// The rows. A STATUS is an error; a NUMBER is 0, also for what returns an address or nothing; a
// TEXT is returned, put into an argument, or written to a buffer.
#define STATUS(name)                                                                               \
    extern "C" long long name() {                                                                  \
        static bool is_said;                                                                       \
        return refuse(#name, is_said, CUPRUM_ERROR);                                               \
    }
#define NUMBER(name)                                                                               \
    extern "C" long long name() {                                                                  \
        return 0;                                                                                  \
    }
#define TEXT(name)                                                                                 \
    extern "C" const char* name() {                                                                \
        return CUPRUM_ERROR_NAME;                                                                  \
    }
#define TEXT_ARGUMENT(name)                                                                        \
    extern "C" int name(int, const char** text) {                                                  \
        *text = CUPRUM_ERROR_NAME;                                                                 \
        return 0;                                                                                  \
    }
#define TEXT_BUFFER(name)                                                                          \
    extern "C" void name(char* buffer, std::size_t bytes) {                                        \
        std::snprintf(buffer, bytes, "%s", CUPRUM_ERROR_NAME);                                     \
    }
#define VARIABLE(name)                                                                             \
    extern "C" {                                                                                   \
    long long name[8];                                                                             \
    }

#include CUPRUM_ROWS
