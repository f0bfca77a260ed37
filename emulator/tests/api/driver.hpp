// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Uses the emulated driver like any program: loads it with dlopen and calls functions by name.

#pragma once

#include "cuprum_emulator.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

namespace cuprum::emulator::test {

/// Returns the loaded library.
inline void* library() {
    static void* handle = [] {
        void* opened = ::dlopen(CUPRUM_EMULATOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (opened == nullptr) {
            throw std::runtime_error(::dlerror());
        }
        return opened;
    }();
    return handle;
}

/// Returns an exported function by name.
template <typename Function>
Function* symbol(const char* name) {
    void* address = ::dlsym(library(), name);
    if (address == nullptr) {
        throw std::runtime_error(std::string("not exported: ") + name);
    }
    return reinterpret_cast<Function*>(address);
}

/// Returns the name of a result code, for messages.
inline std::string name_of(CUresult code) {
    const char* name = nullptr;
    symbol<decltype(cuGetErrorName)>("cuGetErrorName")(code, &name);
    return name == nullptr ? "code " + std::to_string(code) : name;
}

/// Expects a result code. The message has the names of both codes.
inline testing::AssertionResult returns(CUresult expected, CUresult actual) {
    if (expected == actual) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure()
           << "expected " << name_of(expected) << ", got " << name_of(actual);
}

/// Expects success.
inline testing::AssertionResult succeeds(CUresult actual) {
    return returns(CUDA_SUCCESS, actual);
}

} // namespace cuprum::emulator::test

// Returns the library's function for a name of cuda.h. This is a macro, because only the
// preprocessor knows the newest version's name: cuMemAlloc is cuMemAlloc_v2.
#define CUPRUM_STRING(name) #name
#define CUPRUM_EXPANDED_STRING(name) CUPRUM_STRING(name)
#define CU(function)                                                                               \
    (*::cuprum::emulator::test::symbol<decltype(function)>(CUPRUM_EXPANDED_STRING(function)))

namespace cuprum::emulator::test {

/// Initialises the driver and makes device 0's primary context current. After the test, checks that
/// no driver object was left alive.
class DriverTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(succeeds(CU(cuInit)(0)));
        before_ = live_counts();
        ASSERT_TRUE(succeeds(CU(cuDevicePrimaryCtxRetain)(&context_, 0)));
        ASSERT_TRUE(succeeds(CU(cuCtxSetCurrent)(context_)));
    }

    void TearDown() override {
        EXPECT_TRUE(succeeds(CU(cuCtxSetCurrent)(nullptr)));
        const CuprumLiveCounts now = live_counts();
        EXPECT_EQ(now.streams, before_.streams) << "streams leaked";
        EXPECT_EQ(now.events, before_.events) << "events leaked";
        EXPECT_EQ(now.device_allocations, before_.device_allocations) << "device memory leaked";
        EXPECT_EQ(now.pool_allocations, before_.pool_allocations) << "pooled memory leaked";
        EXPECT_EQ(now.host_allocations, before_.host_allocations) << "host memory leaked";
        EXPECT_EQ(now.pools, before_.pools) << "pools leaked";
        EXPECT_EQ(now.modules, before_.modules) << "modules leaked";
        EXPECT_EQ(now.libraries, before_.libraries) << "libraries leaked";
        EXPECT_EQ(now.graphics_objects, before_.graphics_objects) << "graphics objects leaked";
        EXPECT_TRUE(succeeds(CU(cuDevicePrimaryCtxRelease)(0)));
    }

    /// Returns the counts of live objects in the process.
    static CuprumLiveCounts live_counts() {
        CuprumLiveCounts counts{};
        counts.struct_size = sizeof counts;
        EXPECT_EQ(CU(cuprumEmulatorLiveObjects)(&counts), 0);
        return counts;
    }

    /// Allocates device memory. The test must free it.
    static CUdeviceptr allocate(std::size_t bytes) {
        CUdeviceptr address = 0;
        EXPECT_TRUE(succeeds(CU(cuMemAlloc)(&address, bytes)));
        return address;
    }

    CUcontext context_ = nullptr;

private:
    CuprumLiveCounts before_{};
};

/// A gate at which host functions in streams wait until the test opens it. Never sleeps.
class Gate {
public:
    /// Enqueues a host function that blocks at the gate.
    void block(CUstream stream) {
        waiting_.fetch_add(1);
        EXPECT_TRUE(succeeds(CU(cuLaunchHostFunc)(stream, &Gate::wait, this)));
    }

    /// Opens the gate for good.
    void open() {
        is_open_.store(true);
        is_open_.notify_all();
    }

    /// Opens the gate, and waits until every function has passed it.
    ~Gate() {
        open();
        while (waiting_.load() != 0) {
            std::this_thread::yield();
        }
    }

private:
    static void wait(void* data) {
        auto* self = static_cast<Gate*>(data);
        self->is_open_.wait(false);
        self->waiting_.fetch_sub(1);
    }

    std::atomic<bool> is_open_{false};
    std::atomic<int> waiting_{0};
};

} // namespace cuprum::emulator::test
