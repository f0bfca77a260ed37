// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fake_driver.hpp"

#include "device/device_state.hpp"
#include "support/every_failure.hpp"
#include "support/fake_functions.hpp"
#include "support/lock_watch.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <utility>

namespace cuprum::testing {

namespace {

/// The code that a call must return instead of doing its work, if any.
struct Verdict {
    CUresult code = CUDA_SUCCESS;
    bool is_performed = true;
};

Verdict judge(FakeDriver& fake, const char* function);
bool is_release(std::string_view function);

template <auto Member>
struct Intercepted;

template <typename... Params, driver::Entry<CUresult(Params...)> driver::Table::* Member>
struct Intercepted<Member> {
    static CUresult call(Params... args) {
        FakeDriver& fake = *active_fake();
        expect_driver_may_be_called((driver::table().*Member).name);
        if (fake.on_call) {
            fake.on_call((driver::table().*Member).name);
        }
        const std::lock_guard lock(fake.mutex);
        const UncountedMutex uncounted; // it is the test's
        const Verdict verdict = judge(fake, (driver::table().*Member).name);
        const CUresult code =
            verdict.is_performed ? (fake_functions().*Member)(args...) : CUDA_SUCCESS;
        return verdict.code != CUDA_SUCCESS ? verdict.code : code;
    }
};

} // namespace

FakeDriver::FakeDriver() : table_(std::make_unique<driver::Table>()) {
    detail::reset_devices();
    active_fake() = this;
    context_stack().clear();
    for (int device = 0; device < DEVICE_COUNT; ++device) {
        primaries.push_back(make_context(device));
        default_pools.push_back(next_handle<CUmemoryPool>());
        pools[default_pools.back()] = {.device = device, .is_default = true};
        primary_shares.push_back(0);
        primary_flags.push_back(0);
    }
#define CUPRUM_DRIVER_FUNCTION(function, cuda_version)                                             \
    table_->function = &Intercepted<&driver::Table::function>::call;
#include "driver/symbols.def"
#undef CUPRUM_DRIVER_FUNCTION
    previous_ = driver::exchange_table(table_.get());
}

FakeDriver::~FakeDriver() {
    detail::reset_devices();
    driver::exchange_table(previous_);
    active_fake() = nullptr;
}

void FakeDriver::fail(std::string_view function, CUresult code, int nth) {
    const std::lock_guard lock(mutex);
    failures.push_back({std::string(function), nth, code});
}

void FakeDriver::fail_call(std::size_t index, CUresult code) {
    const std::lock_guard lock(mutex);
    failures.push_back({{}, static_cast<int>(index) + 1, code});
}

bool FakeDriver::denies_copy(CUdeviceptr destination, CUdeviceptr source) const {
    const auto to = homes.find(destination);
    const auto from = homes.find(source);
    return denies_peers && to != homes.end() && from != homes.end() && to->second != from->second;
}

std::vector<std::string> FakeDriver::calls() const {
    const std::lock_guard lock(mutex);
    return log;
}

int FakeDriver::count(std::string_view function) const {
    const std::lock_guard lock(mutex);
    return static_cast<int>(std::count(log.begin(), log.end(), function));
}

void FakeDriver::forget_calls() {
    const std::lock_guard lock(mutex);
    log.clear();
}

LiveObjects FakeDriver::live() const {
    const std::lock_guard lock(mutex);
    LiveObjects live;
    live.streams = static_cast<int>(std::count_if(
        streams.begin(), streams.end(), [](const auto& item) { return !item.second.is_foreign; }));
    live.events = static_cast<int>(events.size());
    live.pools = static_cast<int>(pools.size()) - DEVICE_COUNT;
    live.allocations = static_cast<int>(allocations.size());
    live.links = static_cast<int>(links.size());
    live.arrays =
        static_cast<int>(std::count_if(arrays.begin(), arrays.end(), [](const auto& item) {
            return item.second.whole == nullptr;
        }));
    live.mipmapped_arrays = static_cast<int>(mipmaps.size());
    live.graphs = static_cast<int>(graphs.size());
    live.user_objects = static_cast<int>(user_objects.size());
    live.executables = static_cast<int>(executables.size());
    live.textures = static_cast<int>(textures.size());
    live.surfaces = static_cast<int>(surfaces.size());
    live.contexts = static_cast<int>(made_contexts.size());
    live.host_functions = static_cast<int>(host_calls.size());
    live.host_allocations = static_cast<int>(host_allocations.size());
    live.reservations = static_cast<int>(reservations.size());
    live.chunks = static_cast<int>(chunks.size());
    live.mappings = static_cast<int>(mappings.size());
    for (const int shares : primary_shares) {
        live.primary_contexts += shares;
    }
    return live;
}

CUcontext FakeDriver::current() {
    return context_stack().empty() ? nullptr : context_stack().back();
}

CUcontext FakeDriver::make_context(int device) {
    const auto context = next_handle<CUcontext>();
    contexts[context] = device;
    return context;
}

CUstream FakeDriver::make_stream(CUcontext context) {
    const auto stream = next_handle<CUstream>();
    streams[stream] = {.context = context, .is_foreign = true};
    return stream;
}

void FakeDriver::set_capturing(CUstream stream) {
    streams.at(stream).is_capturing = true;
}

void FakeDriver::set_pending(CUevent event) {
    events.at(event).is_pending = true;
}

void FakeDriver::set_pending(CUstream stream) {
    streams.at(stream).is_pending = true;
}

// ---- the fixture -------------------------------------------------------------------------------

FakeDriverTest::FakeDriverTest() : fake(std::make_unique<FakeDriver>()) {}

FakeDriverTest::~FakeDriverTest() {
    LiveObjects live = fake->live();
    live.primary_contexts = 0; // these are kept until the process ends
    EXPECT_EQ(live, LiveObjects{})
        << live.streams << " streams, " << live.events << " events, " << live.pools << " pools, "
        << live.allocations << " allocations, " << live.host_allocations << " host allocations, "
        << live.reservations << " reservations, " << live.chunks << " chunks, " << live.mappings
        << " mappings, " << live.contexts << " contexts are left";
    EXPECT_LE(context_stack().size(), std::size_t{1}) << "a context was pushed and not popped";
    EXPECT_EQ(warnings.take(WarningKind::Release), std::vector<std::string>{});
    fake.reset();
}

void FakeDriverTest::start_with(CUcontext context) {
    context_stack().assign(1, context);
}

void check_every_failure(const std::function<void(FakeDriver&)>& scenario) {
    std::vector<std::string> calls;
    {
        FakeDriver fake;
        scenario(fake);
        calls = fake.calls();
    }
    ASSERT_FALSE(calls.empty());
    int leaks = 0;
    for (std::size_t index = 0; index < calls.size(); ++index) {
        SCOPED_TRACE("call " + std::to_string(index) + ", " + calls[index] + ", fails");
        FakeDriver fake;
        WarningLog warnings;
        fake.fail_call(index, CUDA_ERROR_UNKNOWN);
        std::string named;
        try {
            scenario(fake);
        } catch (const Error& error) { // the driver's linker reports a LinkerError
            EXPECT_EQ(error.domain(), ErrorDomain::Driver);
            EXPECT_EQ(error.code(), CUDA_ERROR_UNKNOWN);
            named = error.call();
        }
        for (const std::string& message : warnings.take(WarningKind::Release)) {
            EXPECT_NE(message.find("CUDA_ERROR_UNKNOWN"), std::string::npos) << message;
            EXPECT_NE(message.find(calls[index]), std::string::npos) << message;
            named = calls[index];
        }
        EXPECT_TRUE(named == calls[index] || (named.empty() && is_answer(calls[index])))
            << "the failure was swallowed: " << named;
        LiveObjects live = fake.live();
        live.primary_contexts = 0;
        EXPECT_EQ(live, LiveObjects{});
        leaks += live == LiveObjects{} ? 0 : 1;
        EXPECT_TRUE(context_stack().empty()) << "the current context was changed";
    }
    note_failures(1, static_cast<int>(calls.size()), leaks);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

Verdict judge(FakeDriver& fake, const char* function) {
    fake.log.emplace_back(function);
    Verdict verdict;
    for (FakeDriver::Failure& failure : fake.failures) {
        if ((failure.function.empty() || failure.function == function) &&
            --failure.calls_to_go == 0) {
            // Most functions release the object even if they fail. If a capture forbids the
            // release, the object stays.
            verdict = {failure.code, is_release(function) &&
                                         failure.code != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
        }
    }
    return verdict;
}

bool is_release(std::string_view function) {
    const auto has = [&](std::string_view part) {
        return function.find(part) != std::string_view::npos;
    };
    return has("Destroy") || (has("Free") && !has("GraphAdd")) || has("Release") ||
           has("PopCurrent") || has("Unmap") || has("Unregister");
}

} // namespace

} // namespace cuprum::testing
