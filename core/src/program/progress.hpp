// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <condition_variable>
#include <cstdint>
#include <string>
#include <thread>

namespace cuprum::detail {

/// The scope in which a compiler runs. After a few seconds, the line below the cursor of the
/// terminal shows what is compiled and for how long, until the scope ends.
///
/// Does nothing unless stderr is a terminal. CUPRUM_PROGRESS sets the seconds; 0 means never.
class CompileProgress {
public:
    /// @param what is shown, as in "compiling k.cu for sm_90". May come from an untrusted source.
    [[nodiscard]] explicit CompileProgress(std::string what);
    ~CompileProgress();

    CompileProgress(const CompileProgress&) = delete;
    CompileProgress& operator=(const CompileProgress&) = delete;

private:
    void watch();
    void draw(std::int64_t seconds) const noexcept;

    std::string what_;
    bool is_over_ = false; // guarded by the mutex that all compilations share
    std::condition_variable over_;
    std::thread thread_;
};

} // namespace cuprum::detail
