// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/entry.hpp"

#include "objects/process/driver_log.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"

#include <exception>
#include <new>
#include <string>

namespace cuprum::emulator {

CUresult result_of_exception(const char* name) noexcept {
    try {
        throw;
    } catch (const DriverError& error) {
        // Log unsupported calls by default. The caller reports other failures.
        const LogLevel level =
            error.code() == CUDA_ERROR_NOT_SUPPORTED ? LogLevel::Warn : LogLevel::Info;
        if (is_logged(level)) {
            log(level, std::string(name) + ": " + error.what());
        }
        // NOT_READY is an answer, not an error.
        if (error.code() != CUDA_ERROR_NOT_READY && !Driver::instance().is_forked()) {
            DriverLog::instance().add(CU_LOG_LEVEL_ERROR, std::string(name) + ": " + error.what());
        }
        return error.code();
    } catch (const std::bad_alloc&) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    } catch (const std::exception& error) {
        log(LogLevel::Error,
            std::string(name) +
                ": a bug of the emulated device, please report it: " + error.what());
    } catch (...) {
        log(LogLevel::Error,
            std::string(name) + ": a bug of the emulated device, please report it");
    }
    return CUDA_ERROR_UNKNOWN;
}

void log_call(const char* name) noexcept {
    log(LogLevel::Debug, name);
}

} // namespace cuprum::emulator
