// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Adds libraries, kernels and launches to the fake driver.

#pragma once

#include "driver/table.hpp"
#include "support/fake_driver.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::testing {

/// Adds to the fake driver as long as it exists. Every loaded library has the kernels that are
/// listed here; their handles point into this object.
class FakeLibraries {
public:
    struct Kernel {
        std::string name;
        std::vector<std::size_t> parameter_sizes;
    };

    /// What the driver received for a launch.
    struct Launch {
        CUlaunchConfig config{};
        std::vector<CUlaunchAttribute> attributes;
        std::vector<std::vector<std::byte>> arguments;
        std::string kernel;
        CUcontext context = nullptr;
    };

    FakeLibraries();
    ~FakeLibraries();
    FakeLibraries(const FakeLibraries&) = delete;
    FakeLibraries& operator=(const FakeLibraries&) = delete;

    std::vector<Kernel> kernels{{"saxpy", {4, 8, 8, 8}}, {"nothing", {}}};
    std::map<CUdevice_attribute, int> device_attributes;
    std::map<CUfunction_attribute, int> kernel_attributes;
    std::map<std::string, CUresult, std::less<>> failures; // by function
    std::string jit_log;                                   // written by every load
    std::map<CUjit_option, unsigned long> jit_options;     // of the last load
    std::map<std::string, std::size_t, std::less<>> variables{{"counter", 4}}; // with their sizes
    std::atomic<int> loads{0};
    std::atomic<int> live_libraries{0};
    std::vector<Launch> launches;
    std::mutex launches_mutex; // while several threads launch
    int active_blocks = 2;
    /// Whether the driver lacks the functions that CUDA 12.4 added.
    bool is_old = false;

    /// Returns the code that a function must fail with, or success.
    [[nodiscard]] CUresult answer(std::string_view function) const;

private:
    std::unique_ptr<driver::Table> table_;
    driver::Table* previous_;
};

/// Runs each test on a fresh fake driver with libraries. None may be left loaded.
class FakeLibrariesTest : public FakeDriverTest {
protected:
    FakeLibrariesTest();
    ~FakeLibrariesTest() override;

    std::unique_ptr<FakeLibraries> libraries;
};

} // namespace cuprum::testing
