// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Pauses a job to give its device to more urgent work, then lets it continue. The job keeps its
// state in device memory and does not know that it is paused.

#include <cuprum/cuprum.hpp>

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace {

constexpr unsigned COUNT = 1U << 16U;
constexpr unsigned THREADS = 256;
constexpr int STEPS = 200;
constexpr float RATE = 0.01F;

constexpr auto SOURCE = R"(
extern "C" __global__ void decay(float* values, float rate, unsigned count) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] -= rate * values[i];
})";

/// Sends a number to the other process.
void send(int socket, float value) {
    if (::write(socket, &value, sizeof value) != sizeof value) {
        throw std::runtime_error("the other process is gone");
    }
}

/// Waits for a number from the other process.
float receive(int socket) {
    float value = 0;
    if (::read(socket, &value, sizeof value) != sizeof value) {
        throw std::runtime_error("the other process is gone");
    }
    return value;
}

/// The job, in the child.
void run_job(int socket) {
    const cuprum::Device device;
    const cuprum::CurrentContext current(device.primary_context());
    const cuprum::Stream stream = device.create_stream();
    const auto code = cuprum::Program(SOURCE).compile(cuprum::CodeType::Ptx);
    const cuprum::Kernel kernel = code.get_kernel("decay");
    const cuprum::Buffer values = device.allocate(COUNT * sizeof(float), stream);
    const std::vector<float> ones(COUNT, 1.0F);
    values.copy_from_host(std::span(ones), stream);
    for (int step = 0; step < STEPS; ++step) {
        cuprum::launch(stream, {.grid = COUNT / THREADS, .block = THREADS}, kernel, values, RATE,
                       COUNT);
        if (step == STEPS / 4) {
            stream.sync();
            send(socket, 0.25F);
        }
        if (step >= STEPS / 4) { // the rest takes long enough to be paused
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    std::vector<float> result(COUNT);
    values.copy_to_host(std::span(result), stream);
    stream.sync();
    send(socket, result.back());
}

/// Pauses the job, uses the device, and lets the job continue.
void pause_job(int pid) {
    const cuprum::checkpoint::Process process(pid);
    process.lock(std::chrono::minutes(1));
    process.checkpoint();
    std::printf("process %d is %s: its device memory is free\n", pid,
                std::string(to_string(process.state())).c_str());
    {
        const cuprum::Device device;
        const cuprum::Stream stream = device.create_stream();
        const cuprum::Buffer urgent = device.allocate(std::size_t{1} << 20U, stream);
    }
    process.restore();
    process.unlock();
}

int run() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        throw std::runtime_error("there is no socket");
    }
    // Fork before the first use of CUDA: CUDA does not work after a fork.
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::close(ends[0]);
        try {
            run_job(ends[1]);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "job: %s\n", error.what());
            return 1;
        }
        return 0;
    }
    ::close(ends[1]);
    std::printf("%.0f %% of the job is done\n", receive(ends[0]) * 100);
    pause_job(pid);
    const float result = receive(ends[0]);
    int status = 0;
    ::waitpid(pid, &status, 0);
    const double expected = std::pow(1.0 - RATE, STEPS);
    if (status != 0 || std::abs(result - expected) > 1e-3) {
        std::printf("wrong: %f, expected %f\n", result, expected);
        return 1;
    }
    std::printf("the job continued and is done: %.4f\n", result);
    return 0;
}

} // namespace

int main() {
    try {
        return run();
    } catch (const cuprum::NotSupportedError& error) {
        std::printf("skipped: %s\n", error.what());
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
