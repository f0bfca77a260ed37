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

ROW(cuLogsRegisterCallback, 12090, Early, CUlogsCallback callbackFunc, void* userData,
    CUlogsCallbackHandle* callback_out) {
    const auto handle = DriverLog::instance().subscribe(callbackFunc, userData);
    put_optional(callback_out, handle);
}

ROW(cuLogsUnregisterCallback, 12090, Early, CUlogsCallbackHandle callback) {
    DriverLog::instance().unsubscribe(callback);
}

ROW(cuLogsCurrent, 12090, Early, CUlogIterator* iterator_out, Flags<> /*flags*/) {
    put(iterator_out, DriverLog::instance().next());
}

ROW(cuLogsDumpToFile, 12090, Early, CUlogIterator* iterator, const std::string& pathToFile,
    Flags<> /*flags*/) {
    std::ofstream file(pathToFile, std::ios::app);
    if (!file) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "cannot write '" + pathToFile + "': " + std::strerror(errno));
    }
    file << DriverLog::instance().read(iterator, std::numeric_limits<std::size_t>::max());
    file.flush();
    if (!file) {
        fail(CUDA_ERROR_OPERATING_SYSTEM, "writing '" + pathToFile + "' failed");
    }
}

ROW(cuLogsDumpToMemory, 12090, Early, CUlogIterator* iterator, char* buffer, size_t* size,
    unsigned int flags) {
    require(buffer != nullptr && size != nullptr && *size != 0, "there is no buffer");
    require(flags == 0, "the flags must be 0");
    const std::size_t room = *size - 1;
    *size = 0;
    buffer[0] = '\0';
    const std::string text = DriverLog::instance().read(iterator, room);
    std::memcpy(buffer, text.c_str(), text.size() + 1);
    *size = text.size();
}
