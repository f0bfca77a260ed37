// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/fault_injection.hpp>

#include "driver/observe.hpp"
#include "support/once.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace cuprum {

struct FaultInjection::State {
    std::string function;
    int nth = 0;
    CUresult code = CUDA_SUCCESS;
    std::atomic<int> calls{0};
    std::atomic<const char*> failed{nullptr};
};

namespace {

bool is_called_by_library(std::string_view function) {
    static constexpr std::string_view ALL[] = {
#define CUPRUM_DRIVER_FUNCTION(name, version) #name,
#include "driver/symbols.def"
#undef CUPRUM_DRIVER_FUNCTION
    };
    return std::find(std::begin(ALL), std::end(ALL), function) != std::end(ALL);
}

} // namespace

namespace {

/// Returns whether a function releases something. It runs even if its call is to fail, so that
/// nothing leaks.
bool is_release(std::string_view function) {
    static constexpr std::string_view WORDS[] = {"Destroy", "Free",  "Unload",     "Release",
                                                 "Unmap",   "Close", "Unregister", "PopCurrent"};
    if (function.starts_with("cuGraphAdd") || function.ends_with("GetParams")) {
        return false; // they have "Free" in their names, but add a node or ask for one
    }
    return std::any_of(std::begin(WORDS), std::end(WORDS), [&](std::string_view word) {
        return function.find(word) != std::string_view::npos;
    });
}

} // namespace

namespace {

template <typename State>
class Injector final : public driver::Observer {
public:
    void add(const std::shared_ptr<State>& state) {
        const std::lock_guard change(change_mutex_);
        {
            const std::lock_guard lock(mutex_);
            states_.push_back(state);
        }
        driver::add_observer(*this);
    }

    void remove(const State* state) {
        const std::lock_guard change(change_mutex_);
        bool is_empty = false;
        {
            const std::lock_guard lock(mutex_);
            std::erase_if(states_, [&](const auto& other) { return other.get() == state; });
            is_empty = states_.empty();
        }
        if (is_empty) {
            driver::remove_observer(*this);
        }
    }

    CUresult before(const driver::Call& call) override {
        return is_release(call.name) ? CUDA_SUCCESS : count(call);
    }

    CUresult after(const driver::Call& call, CUresult status) override {
        if (!is_release(call.name)) {
            return status;
        }
        const CUresult code = count(call);
        return code == CUDA_SUCCESS ? status : code;
    }

private:
    /// Counts a call and returns the code that it is to fail with, or success.
    CUresult count(const driver::Call& call) {
        const std::lock_guard lock(mutex_);
        CUresult code = CUDA_SUCCESS;
        for (const auto& state : states_) {
            if (state->function != "*" && state->function != call.name) {
                continue;
            }
            if (state->calls.fetch_add(1, std::memory_order_relaxed) + 1 == state->nth) {
                state->failed.store(call.name, std::memory_order_relaxed);
                code = state->code;
            }
        }
        return code;
    }

    std::mutex change_mutex_; // one thread adds or removes the observer at a time; taken first
    std::mutex mutex_;
    std::vector<std::shared_ptr<State>> states_;
};

template <typename State>
Injector<State>& injector() {
    static detail::NeverDestroyed<Injector<State>> only; // driver calls may reach it until the end
    return *only;
}

} // namespace

FaultInjection::FaultInjection(const std::string& function, int nth, int code)
    : state_(std::make_shared<State>()) {
    if (function != "*" && !is_called_by_library(function)) {
        throw std::invalid_argument("function is '" + function +
                                    "', expected a driver function that the library calls, such as "
                                    "'cuMemcpyAsync', or '*' for any");
    }
    if (nth < 1) {
        throw std::invalid_argument("nth is " + std::to_string(nth) + ", expected 1 or more");
    }
    if (code == 0) {
        throw std::invalid_argument("code is 0, which is success; expected an error code");
    }
    state_->function = function;
    state_->nth = nth;
    state_->code = static_cast<CUresult>(code);
    injector<State>().add(state_);
}

FaultInjection::~FaultInjection() {
    injector<State>().remove(state_.get());
}

int FaultInjection::call_count() const noexcept {
    return state_->calls.load(std::memory_order_relaxed);
}

bool FaultInjection::has_failed() const noexcept {
    return state_->failed.load(std::memory_order_relaxed) != nullptr;
}

std::string FaultInjection::failed_call() const {
    const char* name = state_->failed.load(std::memory_order_relaxed);
    return name == nullptr ? std::string() : std::string(name);
}

} // namespace cuprum
