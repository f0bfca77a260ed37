// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/observe.hpp"
#include "observe/log.hpp"
#include "support/once.hpp"
#include "support/warn.hpp"

#include <atomic>
#include <string>

#if __has_include(<nvtx3/nvToolsExt.h>)
#define CUPRUM_HAS_NVTX 1
#include <nvtx3/nvToolsExt.h>
#else
#define CUPRUM_HAS_NVTX 0
#endif

namespace cuprum::trace {

namespace {

constinit std::atomic<bool> is_on{false};

/// An observer that marks each driver call.
class Marker final : public driver::Observer {
public:
    CUresult before(const driver::Call& call) override {
        push_nvtx(call.name);
        return CUDA_SUCCESS;
    }

    CUresult after(const driver::Call& /*call*/, CUresult status) override {
        pop_nvtx();
        return status;
    }
};

} // namespace

void start_nvtx() {
    if (CUPRUM_HAS_NVTX == 0) {
        cuprum::detail::warn(WarningKind::Degraded,
                             "CUPRUM_NVTX is ignored: this library was built without NVTX's "
                             "headers; build it with a CUDA toolkit that has nvtx3");
        return;
    }
    static cuprum::detail::NeverDestroyed<Marker> marker;
    is_on.store(true, std::memory_order_relaxed);
    driver::add_observer(*marker);
}

bool is_nvtx_on() noexcept {
    return is_on.load(std::memory_order_relaxed);
}

void push_nvtx([[maybe_unused]] std::string_view name) {
#if CUPRUM_HAS_NVTX
    if (is_nvtx_on()) {
        nvtxRangePushA(std::string(name).c_str());
    }
#endif
}

void pop_nvtx() {
#if CUPRUM_HAS_NVTX
    if (is_nvtx_on()) {
        nvtxRangePop();
    }
#endif
}

} // namespace cuprum::trace
