// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/every_failure.hpp"

#include "driver/observe.hpp"
#include "support/driver_test.hpp"
#include "support/lock_watch.hpp"
#include "support/warning_log.hpp"

#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/fault_injection.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace cuprum::testing {

namespace {

constexpr int UNKNOWN = 999;
constexpr int MOST_CALLS = 2000; // of a scenario; more means that it never ends

/// Counts failures, and prints the counts when the program ends.
struct Tally {
    Tally() = default;
    Tally(const Tally&) = delete;
    Tally& operator=(const Tally&) = delete;

    ~Tally() {
        if (calls != 0) {
            std::printf("fault injection: %d scenarios, %d driver calls made to fail, leaks found: "
                        "%d\n",
                        scenarios, calls, leaks);
        }
    }

    int scenarios = 0;
    int calls = 0;
    int leaks = 0;
} tally;

/// Runs the scenario and returns the functions that its error and the warnings name.
/// Checks at every driver call that the library may make it.
class LockObserver final : public driver::Observer {
public:
    CUresult before(const driver::Call& call) override {
        expect_driver_may_be_called(call.name);
        return CUDA_SUCCESS;
    }
} lock_observer;

/// Watches the locks for a scope.
struct ObservedLocks {
    ObservedLocks() { driver::add_observer(lock_observer); }

    ~ObservedLocks() { driver::remove_observer(lock_observer); }

    ObservedLocks(const ObservedLocks&) = delete;
    ObservedLocks& operator=(const ObservedLocks&) = delete;
};

std::string run(const std::function<void()>& scenario);
std::string settled_objects();

} // namespace

void check_every_failure_on_driver(const std::function<void()>& scenario) {
    const ObservedLocks observed;
    scenario(); // creates what is created once and kept, before anything is counted
    ++tally.scenarios;
    for (int nth = 1; nth <= MOST_CALLS; ++nth) {
        const std::string before = settled_objects();
        const CUcontext current = current_context();
        std::string failed;
        std::string told;
        {
            const FaultInjection fault("*", nth, UNKNOWN);
            told = run(scenario);
            failed = fault.failed_call();
        }
        if (failed.empty()) {
            ASSERT_GT(nth, 1) << "the scenario calls no driver function";
            return;
        }
        SCOPED_TRACE("call " + std::to_string(nth) + ", " + failed + ", fails");
        ++tally.calls;
        EXPECT_TRUE(told.find(failed) != std::string::npos || is_answer(failed))
            << "the failure was swallowed: " << told;
        EXPECT_EQ(current_context(), current) << "the current context was changed";
        scenario(); // everything must still be usable
        if (const std::string after = settled_objects(); after != before) {
            ++tally.leaks;
            ADD_FAILURE() << "left alive: " << after << "instead of " << before;
        }
    }
    FAIL() << "the scenario makes more than " << MOST_CALLS << " driver calls";
}

bool is_answer(std::string_view function) {
    return function == "cuStreamQuery" || function == "cuEventQuery" || function == "cuInit";
}

void note_failures(int scenarios, int calls, int leaks) {
    tally.scenarios += scenarios;
    tally.calls += calls;
    tally.leaks += leaks;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::string run(const std::function<void()>& scenario) {
    WarningLog warnings;
    std::string told;
    try {
        scenario();
    } catch (const Error& error) { // the driver's linker reports a LinkerError
        EXPECT_EQ(error.domain(), ErrorDomain::Driver) << error.what();
        EXPECT_EQ(error.code(), UNKNOWN) << error.what();
        told += error.call() + " ";
    }
    for (const std::string& message : warnings.take(WarningKind::Release)) {
        EXPECT_NE(message.find("CUDA_ERROR_UNKNOWN"), std::string::npos) << message;
        told += message + " ";
    }
    return told;
}

/// Returns the live objects after all stream-ordered frees are done.
std::string settled_objects() {
    Device(0).sync();
    return live_objects();
}

} // namespace

} // namespace cuprum::testing
