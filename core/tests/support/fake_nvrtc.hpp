// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A compiler that compiles nothing. It counts its programs, records the requests, and fails on
// request.

#pragma once

#include "libraries/nvrtc.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cuprum::testing {

/// Installs the fake compiler for a scope; there may be only one at a time.
class FakeNvrtc {
public:
    FakeNvrtc();
    ~FakeNvrtc();
    FakeNvrtc(const FakeNvrtc&) = delete;
    FakeNvrtc& operator=(const FakeNvrtc&) = delete;

    /// Makes every call of one function fail.
    void fail(std::string function, nvrtcResult status = NVRTC_ERROR_INTERNAL_ERROR);

    int live_programs = 0;
    int created_programs = 0;
    std::string log;
    std::vector<std::string> options; // of the last compilation
    std::vector<nvrtcResult>
        pch_results;                // the results of precompiling headers, in order; then success
    std::size_t pch_heap_bytes = 0; // the value that was set
    std::string failing_function;
    nvrtcResult failure = NVRTC_SUCCESS;

private:
    nvrtc::Table table_;
    nvrtc::Table* previous_;
};

} // namespace cuprum::testing
