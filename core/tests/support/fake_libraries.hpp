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
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::testing {

/// Stands in front of the fake driver while it lives. Every library that is loaded has the kernels
/// named here; their handles lie in this object.
class FakeLibraries {
public:
    struct Kernel {
        std::string name;
        std::vector<std::size_t> parameter_sizes;
    };

    /// What the driver was given for a launch.
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
    std::string jit_log;                                   // written when loading
    std::map<CUjit_option, unsigned long> jit_options;     // of the last loading
    std::map<std::string, std::size_t, std::less<>> variables{{"counter", 4}}; // and their sizes
    std::atomic<int> loads{0};
    std::atomic<int> live_libraries{0};
    std::vector<Launch> launches;
    int active_blocks = 2;
    /// Whether the driver is old enough to lack what came with CUDA 12.4.
    bool is_old = false;

    /// Returns the code that a function must fail with, or success.
    [[nodiscard]] CUresult answer(std::string_view function) const;

private:
    std::unique_ptr<driver::Table> table_;
    driver::Table* previous_;
};

/// Runs each test on a fresh fake driver with libraries; none may be left loaded.
class FakeLibrariesTest : public FakeDriverTest {
protected:
    FakeLibrariesTest();
    ~FakeLibrariesTest() override;

    std::unique_ptr<FakeLibraries> libraries;
};

} // namespace cuprum::testing
