// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The log of failed calls, for programs to read.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/process/driver_log.hpp"
#include "objects/process/error.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

using namespace cuprum::emulator;

extern "C" {

CUresult CUDAAPI cuLogsRegisterCallback(CUlogsCallback callbackFunc, void* userData,
                                        CUlogsCallbackHandle* callback_out) {
    return early_entry("cuLogsRegisterCallback", [&] {
        const auto handle = DriverLog::instance().subscribe(callbackFunc, userData);
        if (callback_out != nullptr) {
            *callback_out = handle;
        }
    });
}

CUresult CUDAAPI cuLogsUnregisterCallback(CUlogsCallbackHandle callback) {
    return early_entry("cuLogsUnregisterCallback",
                       [&] { DriverLog::instance().unsubscribe(callback); });
}

CUresult CUDAAPI cuLogsCurrent(CUlogIterator* iterator_out, unsigned int flags) {
    return early_entry("cuLogsCurrent", [&] {
        require(flags == 0, "the flags must be 0");
        put(iterator_out, DriverLog::instance().next());
    });
}

CUresult CUDAAPI cuLogsDumpToFile(CUlogIterator* iterator, const char* pathToFile,
                                  unsigned int flags) {
    return early_entry("cuLogsDumpToFile", [&] {
        require(pathToFile != nullptr, "pathToFile must not be NULL");
        require(flags == 0, "the flags must be 0");
        std::ofstream file(pathToFile, std::ios::app);
        if (!file) {
            fail(CUDA_ERROR_INVALID_VALUE,
                 std::string("cannot write '") + pathToFile + "': " + std::strerror(errno));
        }
        file << DriverLog::instance().read(iterator, std::numeric_limits<std::size_t>::max());
        file.flush();
        if (!file) {
            fail(CUDA_ERROR_OPERATING_SYSTEM, std::string("writing '") + pathToFile + "' failed");
        }
    });
}

CUresult CUDAAPI cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size,
                                    unsigned int flags) {
    return early_entry("cuLogsDumpToMemory", [&] {
        require(buffer != nullptr && size != nullptr && *size != 0, "there is no buffer");
        require(flags == 0, "the flags must be 0");
        const std::size_t room = *size - 1;
        *size = 0;
        buffer[0] = '\0';
        const std::string text = DriverLog::instance().read(iterator, room);
        std::memcpy(buffer, text.c_str(), text.size() + 1);
        *size = text.size();
    });
}

} // extern "C"
