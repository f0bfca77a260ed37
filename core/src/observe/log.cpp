// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "observe/log.hpp"

#include "driver/explanations.hpp"
#include "driver/observe.hpp"
#include "observe/writer.hpp"
#include "support/once.hpp"

#include <cstdio>
#include <string>

namespace cuprum::trace {

namespace {

/// An observer that writes calls to stderr, one a line.
class Log final : public driver::Observer {
public:
    bool has_all_calls = false;

    CUresult before(const driver::Call& /*call*/) override {
        begins.at[begins.depth++ % Begins::KEPT] = now_ns();
        return CUDA_SUCCESS;
    }

    CUresult after(const driver::Call& call, CUresult status) override {
        begins.depth -= begins.depth > 0 ? 1 : 0; // the log may have started during the call
        const std::int64_t begin_ns = begins.at[begins.depth % Begins::KEPT];
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
    /// When the calls began that this thread is inside of: the driver calls functions of the
    /// program, which may call the driver.
    /// NOTE: plain data, because other objects of the thread may call the driver when they go.
    struct Begins {
        static constexpr unsigned KEPT = 4;

        std::int64_t at[KEPT] = {};
        unsigned depth = 0;
    };

    static thread_local constinit Begins begins;
};

thread_local constinit Log::Begins Log::begins{};

} // namespace

void start_log(bool has_all_calls) {
    static cuprum::detail::NeverDestroyed<Log> log;
    log->has_all_calls = has_all_calls;
    driver::add_observer(*log);
}

} // namespace cuprum::trace
