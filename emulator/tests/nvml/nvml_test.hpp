// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Uses the emulated NVML like any program: loads it with dlopen and calls functions by name.

#pragma once

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <nvml/nvml.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace cuprum::nvml::test {

using namespace nvml_abi;
namespace fs = std::filesystem;

/// Returns an exported function by name.
inline void* symbol(const char* name) {
    static void* const library = ::dlopen(CUPRUM_EMULATOR_NVML, RTLD_NOW | RTLD_LOCAL);
    void* const address = library == nullptr ? nullptr : ::dlsym(library, name);
    if (address == nullptr) {
        throw std::runtime_error(::dlerror());
    }
    return address;
}

} // namespace cuprum::nvml::test

// Returns the library's function for a name of abi/nvml.
#define NVML(name)                                                                                 \
    (*reinterpret_cast<nvml_abi::functions::name*>(::cuprum::nvml::test::symbol(#name)))

namespace cuprum::nvml::test {

/// Sets a variable of the environment; an empty value removes it.
inline void set_variable(const std::string& name, const std::string& value) {
    if (value.empty()) {
        ::unsetenv(name.c_str());
    } else {
        ::setenv(name.c_str(), value.c_str(), 1);
    }
}

/// A process that uses the emulated devices: see worker.cpp.
class Worker {
public:
    Worker() {
        int to[2];
        int from[2];
        // Another worker must not inherit the ends: each waits for the end of its input.
        if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) {
            throw std::runtime_error("no pipe");
        }
        pid_ = ::fork();
        if (pid_ == 0) {
            ::dup2(to[0], STDIN_FILENO);
            ::dup2(from[1], STDOUT_FILENO);
            ::execl(CUPRUM_EMULATOR_NVML_WORKER, CUPRUM_EMULATOR_NVML_WORKER, nullptr);
            std::_Exit(EXIT_FAILURE);
        }
        ::close(to[0]);
        ::close(from[1]);
        input_ = to[1];
        output_ = from[0];
    }

    ~Worker() { end(); }

    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    [[nodiscard]] unsigned int pid() const { return static_cast<unsigned int>(pid_); }

    /// Sends a command without waiting for its answer.
    void send(const std::string& command) {
        const std::string line = command + "\n";
        if (::write(input_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
            throw std::runtime_error("the worker is gone");
        }
    }

    /// Returns the next answer; -1 if the worker has died.
    int answer() {
        std::string text;
        for (char c = 0; ::read(output_, &c, 1) == 1 && c != '\n';) {
            text += c;
        }
        return text.empty() ? -1 : std::stoi(text);
    }

    /// Sends a command and returns the code of the driver.
    int run(const std::string& command) {
        send(command);
        return answer();
    }

    /// Lets the worker end as programs do.
    void end() {
        if (pid_ > 0) {
            ::close(input_);
            ::waitpid(pid_, nullptr, 0);
            ::close(output_);
            pid_ = 0;
        }
    }

private:
    pid_t pid_ = 0;
    int input_ = -1;
    int output_ = -1;
};

/// Starts NVML with two devices and a runtime folder of its own.
class NVMLTest : public testing::Test {
protected:
    void SetUp() override {
        ::signal(SIGPIPE, SIG_IGN);
        char folder[] = "/tmp/cuprum-nvml-test-XXXXXX";
        ASSERT_NE(::mkdtemp(folder), nullptr);
        folder_ = folder;
        set("CUPRUM_EMULATOR_RUNTIME_DIR", folder_.string());
        set("CUPRUM_EMULATOR_DEVICES", "2");
        set("CUPRUM_EMULATOR_MEMORY", "1G");
        set("CUPRUM_EMULATOR_WORKERS", "2");
        set("CUPRUM_EMULATOR_LOG", "off");
        ASSERT_EQ(NVML(nvmlInit_v2)(), NVML_SUCCESS);
    }

    void TearDown() override {
        EXPECT_EQ(NVML(nvmlShutdown)(), NVML_SUCCESS);
        for (const auto& [name, before] : before_) {
            set_variable(name, before);
        }
        fs::remove_all(folder_);
    }

    /// Sets a variable until the test is over. NVML reads it with restart().
    void set(const std::string& name, const std::string& value) {
        const char* const before = std::getenv(name.c_str());
        before_.emplace(name, before == nullptr ? "" : before);
        set_variable(name, value);
    }

    /// Starts NVML again, so that it reads the environment anew.
    static nvmlReturn_t restart() {
        (void)NVML(nvmlShutdown)();
        return NVML(nvmlInit_v2)();
    }

    [[nodiscard]] static nvmlDevice_t device(unsigned int index = 0) {
        nvmlDevice_t handle = nullptr;
        EXPECT_EQ(NVML(nvmlDeviceGetHandleByIndex_v2)(index, &handle), NVML_SUCCESS);
        return handle;
    }

    [[nodiscard]] static unsigned long long used_bytes(unsigned int index = 0) {
        nvmlMemory_t memory{};
        EXPECT_EQ(NVML(nvmlDeviceGetMemoryInfo)(device(index), &memory), NVML_SUCCESS);
        EXPECT_EQ(memory.used + memory.free, memory.total);
        return memory.used;
    }

    [[nodiscard]] static std::vector<nvmlProcessInfo_t> processes(unsigned int index = 0) {
        std::vector<nvmlProcessInfo_t> infos(16);
        auto count = static_cast<unsigned int>(infos.size());
        EXPECT_EQ(
            NVML(nvmlDeviceGetComputeRunningProcesses_v3)(device(index), &count, infos.data()),
            NVML_SUCCESS);
        infos.resize(count);
        return infos;
    }

    /// Counts the records of processes, of dead ones too.
    [[nodiscard]] std::size_t record_count() const {
        std::size_t count = 0;
        for (const auto& entry : fs::directory_iterator(folder_)) {
            count += entry.path().filename().string().find("process-") == std::string::npos ? 0 : 1;
        }
        return count;
    }

    fs::path folder_;

private:
    std::map<std::string, std::string> before_;
};

constexpr unsigned long long MIB = 1ULL << 20U;

} // namespace cuprum::nvml::test
