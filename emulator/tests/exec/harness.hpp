// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Runs PTX text: parses, compiles and executes it on separate memory.

#pragma once

#include "check/global_races.hpp"
#include "check/written.hpp"
#include "exec/engine.hpp"
#include "passes/compile.hpp"
#include "ptx/parser.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace cuprum::emulator::test {

/// A device with one megabyte of memory, allocated from its start, and the shared and local windows
/// before it.
class TestDevice {
public:
    static constexpr std::size_t MEMORY_BYTES = std::size_t{1} << 20;
    static constexpr std::uint32_t GRANULE_SHIFT = 12;

    TestDevice()
        : memory_(static_cast<std::byte*>(::operator new(MEMORY_BYTES, std::align_val_t{4096}))),
          granules_(MEMORY_BYTES >> GRANULE_SHIFT) {
        std::memset(memory_, 0, MEMORY_BYTES);
        for (auto& granule : granules_) {
            granule = static_cast<std::uint8_t>(Permission::ReadWrite);
        }
        map_.memory_base = reinterpret_cast<std::uint64_t>(memory_);
        map_.memory_bytes = MEMORY_BYTES;
        map_.granule_shift = GRANULE_SHIFT;
        map_.granules = granules_.data();
        map_.shared_bytes = map_.local_bytes = std::uint64_t{1} << 24;
        map_.local_base = map_.memory_base - map_.local_bytes;
        map_.shared_base = map_.local_base - map_.shared_bytes;
        map_.window_base = map_.shared_base;
        map_.window_bytes = map_.shared_bytes + map_.local_bytes + MEMORY_BYTES;
    }

    TestDevice(const TestDevice&) = delete;
    TestDevice& operator=(const TestDevice&) = delete;

    ~TestDevice() { ::operator delete(memory_, std::align_val_t{4096}); }

    [[nodiscard]] const MemoryMap& map() const { return map_; }

    /// Enables checks for all later compilations and launches. All memory counts as written.
    void enable_checks(std::uint8_t checks) {
        map_.checks = checks;
        if ((checks & CHECK_INITIALIZED) != 0) {
            written_ = std::vector<std::atomic<std::uint8_t>>(MEMORY_BYTES);
            map_.initialized = written_.data();
            check::mark_written(map_, map_.memory_base, MEMORY_BYTES);
        }
        if ((checks & CHECK_RACES) != 0) {
            map_.races = &races_;
        }
    }

    /// Makes memory count as never written.
    void forget(const void* memory, std::size_t bytes) {
        check::forget_written(map_, reinterpret_cast<std::uint64_t>(memory), bytes);
    }

    /// Sets what kernels may do with the granules of a piece of memory.
    void set_permission(const void* memory, std::size_t bytes, Permission permission) {
        const auto first = static_cast<const std::byte*>(memory) - memory_;
        const auto last = first + static_cast<std::ptrdiff_t>(bytes) - 1;
        for (auto index = first >> GRANULE_SHIFT; index <= last >> GRANULE_SHIFT; ++index) {
            granules_[static_cast<std::size_t>(index)] = static_cast<std::uint8_t>(permission);
        }
    }

    /// Allocates zeroed device memory for `count` values.
    template <typename T>
    [[nodiscard]] T* allocate(std::size_t count) {
        T* result = reinterpret_cast<T*>(memory_ + used_);
        used_ += (count * sizeof(T) + 255) / 256 * 256;
        EXPECT_LE(used_, MEMORY_BYTES);
        return result;
    }

    /// Compiles a module and returns the named kernel, or its first kernel. The log is in `log`.
    [[nodiscard]] std::shared_ptr<const bytecode::Kernel>
    compile(const std::string& body, std::uint32_t device_sm = 90, const std::string& name = {}) {
        ptx::Diagnostics diagnostics;
        const auto module = ptx::parse(body, diagnostics);
        std::vector<std::shared_ptr<const bytecode::Kernel>> kernels;
        if (module) {
            passes::CompileOptions options;
            options.memory = &map_;
            options.device_sm = device_sm;
            options.bank_bytes = bank_bytes;
            std::unordered_map<std::string, std::uint64_t> addresses;
            for (const auto& variable :
                 passes::global_variables(*module, MEMORY_BYTES, diagnostics)) {
                std::byte* place = allocate<std::byte>(variable.size_bytes);
                if (!variable.initial.empty()) {
                    std::memcpy(place, variable.initial.data(), variable.initial.size());
                }
                addresses[variable.name] = reinterpret_cast<std::uint64_t>(place);
                options.symbols.insert(variable.name);
            }
            for (const auto& variable :
                 passes::global_variables(*module, MEMORY_BYTES, diagnostics)) {
                for (const auto& relocation : variable.relocations) {
                    const auto found = addresses.find(relocation.symbol);
                    const std::uint64_t value =
                        found != addresses.end()
                            ? found->second
                            : passes::FunctionAddresses(*module).of(relocation.symbol);
                    std::memcpy(reinterpret_cast<std::byte*>(addresses[variable.name]) +
                                    relocation.offset,
                                &value, relocation.size_bytes);
                }
            }
            kernels = passes::compile(*module, options, diagnostics);
            for (const auto& kernel : kernels) {
                constants_[kernel.get()] = passes::place_symbols(*kernel, addresses);
            }
        }
        log = diagnostics.to_text();
        problem = diagnostics.is_empty() ? std::nullopt
                                         : std::optional(diagnostics.items().front().problem);
        for (const auto& kernel : kernels) {
            if (kernel->name == name) {
                return kernel;
            }
        }
        return kernels.empty() ? nullptr : kernels.front();
    }

    /// Returns the constants of a compiled kernel, with the addresses of variables filled in.
    [[nodiscard]] std::shared_ptr<std::byte> constants(const bytecode::Kernel* kernel) const {
        const auto found = constants_.find(kernel);
        return found != constants_.end() ? found->second : nullptr;
    }

    void set_constants(const bytecode::Kernel* kernel, std::shared_ptr<std::byte> constants) {
        constants_[kernel] = std::move(constants);
    }

    /// The heap of kernels; null unless a test creates one.
    std::shared_ptr<builtins::Heap> heap;
    std::uint64_t grid_workspace = 0;
    /// The largest bank of a kernel; operands cannot address more than the default.
    std::uint32_t bank_bytes = passes::CompileOptions{}.bank_bytes;
    std::string log;
    std::optional<ptx::Problem> problem;

private:
    std::byte* memory_;
    std::size_t used_ = 0;
    std::vector<std::atomic<std::uint8_t>> granules_;
    std::vector<std::atomic<std::uint8_t>> written_;
    std::unordered_map<const bytecode::Kernel*, std::shared_ptr<std::byte>> constants_;
    check::GlobalRaces races_;
    MemoryMap map_;
};

/// Gives every test an engine whose workers have not started, so that none depends on those before
/// it in the same process.
class FreshEngine final : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo& /*test*/) override {
        exec::Engine::instance().reset();
    }
};

inline const bool HAS_FRESH_ENGINE = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new FreshEngine);
    return true;
}();

/// Starts the engine again with these settings.
inline void restart_engine(const exec::EngineSettings& settings) {
    exec::Engine::instance().reset();
    exec::Engine::instance().configure(settings);
}

/// Returns a module: the lines that every module needs, then `text`.
inline std::string ptx_module(const std::string& text) {
    return ".version 8.0\n.target sm_80\n.address_size 64\n" + text;
}

struct Shape {
    std::uint32_t grid = 1;
    std::uint32_t block = 32;
    std::uint32_t dynamic_shared_bytes = 0;
    bool is_cooperative = false;
    std::uint32_t block_y = 1;
    std::uint32_t cluster = 1;
    std::uint32_t stack_bytes = 0;
    const void* awaited_as = nullptr;
    std::uint32_t sm_count = 4;
    std::uint64_t grid_id = 0;
};

/// A launch that a test can wait for.
class Launch {
public:
    template <typename... Args>
    Launch(const TestDevice& device, std::shared_ptr<const bytecode::Kernel> kernel, Shape shape,
           Args... args) {
        exec::GridLaunch launch;
        launch.kernel = std::move(kernel);
        launch.constants = device.constants(launch.kernel.get());
        launch.grid[0] = shape.grid;
        launch.block[0] = shape.block;
        launch.block[1] = shape.block_y;
        launch.cluster[0] = shape.cluster;
        launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
        launch.is_cooperative = shape.is_cooperative;
        launch.memory = &device.map();
        launch.heap = device.heap;
        launch.grid_workspace = device.grid_workspace;
        launch.sm_count = shape.sm_count;
        launch.grid_id = shape.grid_id;
        launch.stack_bytes = shape.stack_bytes;
        launch.awaited_as = shape.awaited_as;
        [[maybe_unused]] std::size_t index = 0;
        launch.parameters.resize(launch.kernel->parameter_bytes);
        (
            [&] {
                const bytecode::Parameter& parameter = launch.kernel->parameters.at(index++);
                ASSERT_EQ(parameter.size_bytes, sizeof args);
                std::memcpy(launch.parameters.data() + parameter.offset, &args, sizeof args);
            }(),
            ...);
        exec::Engine::instance().submit(std::move(launch), [state = state_](const Fault* fault) {
            const std::lock_guard lock(state->mutex);
            state->fault = fault != nullptr ? *fault : Fault{};
            state->is_done = true;
            state->ended_on = std::this_thread::get_id();
            state->changed.notify_all();
        });
    }

    [[nodiscard]] bool is_done() const {
        const std::lock_guard lock(state_->mutex);
        return state_->is_done;
    }

    /// Returns whether the calling thread has ended the launch, which is done.
    [[nodiscard]] bool has_ended_here() const {
        const std::lock_guard lock(state_->mutex);
        return state_->is_done && state_->ended_on == std::this_thread::get_id();
    }

    /// Waits and returns the fault. Its kind is None if there was none.
    Fault wait() {
        const exec::HostWait waiting;
        std::unique_lock lock(state_->mutex);
        state_->changed.wait(lock, [&] { return state_->is_done; });
        return state_->fault;
    }

private:
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        bool is_done = false;
        std::thread::id ended_on;
        Fault fault;
    };

    std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Compiles, launches and waits. Fails the test if the compilation fails.
template <typename... Args>
Fault run(TestDevice& device, const std::string& text, Shape shape, Args... args) {
    const auto kernel = device.compile(ptx_module(text));
    EXPECT_NE(kernel, nullptr) << device.log;
    if (kernel == nullptr) {
        return Fault{FaultKind::IllegalInstruction, device.log};
    }
    return Launch(device, kernel, shape, args...).wait();
}

} // namespace cuprum::emulator::test
