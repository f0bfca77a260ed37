// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/log.hpp"

#include "driver/explanations.hpp"
#include "driver/observe.hpp"
#include "observe/writer.hpp"
#include "support/never_destroyed.hpp"

#include <cstdio>
#include <string>

namespace cuprum::trace {

namespace {

/// An observer that writes calls to stderr, one a line.
class Log final : public driver::Observer {
public:
    bool has_all_calls = false;

    CUresult before(const driver::Call& /*call*/) override {
        begin_ns = now_ns();
        return CUDA_SUCCESS;
    }

    CUresult after(const driver::Call& call, CUresult status) override {
        // "Not ready" is an answer, not a failure.
        const bool is_failure = status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_READY;
        if (!has_all_calls && !is_failure) {
            return status;
        }
        const double duration_us = static_cast<double>(now_ns() - begin_ns) / 1e3;
        std::string arguments;
        call.describe(call, status == CUDA_SUCCESS, arguments);
        std::fprintf(stderr, "cuprum: %d: %s(%s): %s, %.1f us\n", thread_number(), call.name,
                     arguments.c_str(), driver::name_of(status).c_str(), duration_us);
        return status;
    }

private:
    static thread_local std::int64_t begin_ns;
};

thread_local std::int64_t Log::begin_ns = 0;

} // namespace

void start_log(bool has_all_calls) {
    static cuprum::detail::NeverDestroyed<Log> log;
    log->has_all_calls = has_all_calls;
    driver::add_observer(*log);
}

} // namespace cuprum::trace
