// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/entry.hpp"

#include "objects/graphs/capture.hpp"
#include "objects/process/driver_log.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace cuprum::emulator {

namespace {

/// Returns the name of a parameter in the text of a row: the last word before the next comma.
std::string parameter_name(const Row& row, std::size_t parameter) {
    if (row.parameters == nullptr) {
        return "an argument";
    }
    std::string name;
    int depth = 0; // of < and >
    for (const char each : std::string_view(row.parameters)) {
        depth += each == '<' ? 1 : each == '>' ? -1 : 0;
        if (each == ',' && depth == 0) {
            if (parameter == 0) {
                break;
            }
            --parameter;
        }
        const bool is_of_word =
            (std::isalnum(static_cast<unsigned char>(each)) != 0) || each == '_';
        if (!is_of_word) {
            name.clear();
        } else {
            name += each;
        }
    }
    return name;
}

} // namespace

void refuse_null(const Row& row, std::size_t parameter) {
    fail(CUDA_ERROR_INVALID_VALUE, parameter_name(row, parameter) + " must not be NULL");
}

void refuse_flags(const Row& row, std::size_t parameter, unsigned long long known) {
    fail(CUDA_ERROR_INVALID_VALUE,
         parameter_name(row, parameter) + (known == 0 ? " must be 0" : " has unknown bits"));
}

void refuse_unsafe_call() {
    Capture::refuse_unsafe_call();
}

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
