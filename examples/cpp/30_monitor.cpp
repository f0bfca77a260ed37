// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Monitors a run: samples the device while kernels run, then draws load and memory as an SVG.
//
//     30_monitor [monitor.svg]

#include <cuprum/cuprum.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using cuprum::system::Sample;

constexpr auto INTERVAL = 20ms;
constexpr auto RUN = 600ms;
constexpr int WIDTH = 640;
constexpr int HEIGHT = 240;
constexpr int MARGIN = 40;

constexpr std::string_view SOURCE = R"(
extern "C" __global__ void spin(float* data, unsigned long long count, int rounds) {
    const unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i >= count) return;
    float x = data[i];
    for (int n = 0; n < rounds; ++n) x = x * 0.999f + 0.001f;
    data[i] = x;
}
)";

/// Holds more and more memory and keeps the device busy, then frees it all.
void work(const cuprum::Device& device) {
    constexpr std::uint64_t count = 1U << 18U;
    const cuprum::Stream stream = device.create_stream();
    const auto kernel = cuprum::Program(SOURCE).compile(cuprum::CodeType::Ptx).get_kernel("spin");
    const auto resource = cuprum::SynchronousMemoryResource::create(device);
    std::vector<cuprum::Buffer> buffers;
    const auto end = std::chrono::steady_clock::now() + RUN;
    while (std::chrono::steady_clock::now() < end) {
        if (buffers.size() < 8) {
            buffers.push_back(resource->allocate(sizeof(float) * count, stream));
            buffers.back().fill(std::uint8_t{0}, stream);
        }
        launch(stream, {.grid = {count / 256}, .block = {256}}, kernel, buffers.back(), count, 200);
        stream.sync();
    }
}

/// Draws one curve. `value` returns a sample's height, from 0 to 1.
template <typename Value>
void draw_line(std::ostream& out, const std::vector<Sample>& samples, const std::string& colour,
               const std::string& label, int label_y, const Value& value) {
    const auto seconds = [&](const Sample& sample) {
        return std::chrono::duration<double>(sample.time - samples.front().time).count();
    };
    const double length = std::max(seconds(samples.back()), 1e-9);
    out << "<polyline fill='none' stroke='" << colour << "' stroke-width='2' points='";
    for (const Sample& sample : samples) {
        out << MARGIN + seconds(sample) / length * (WIDTH - 2 * MARGIN) << ','
            << HEIGHT - MARGIN - value(sample) * (HEIGHT - 2 * MARGIN) << ' ';
    }
    out << "'/>\n<text x='" << MARGIN << "' y='" << label_y << "' fill='" << colour << "'>" << label
        << "</text>\n";
}

std::string draw(const std::vector<Sample>& samples, std::uint64_t peak, const std::string& name) {
    std::ostringstream out;
    out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 " << WIDTH << ' ' << HEIGHT
        << "' font-family='sans-serif' font-size='12'>\n<rect width='" << WIDTH << "' height='"
        << HEIGHT << "' fill='white'/>\n<path d='M" << MARGIN << ' ' << MARGIN << 'V'
        << HEIGHT - MARGIN << 'H' << WIDTH - MARGIN << "' fill='none' stroke='gray'/>\n";
    draw_line(out, samples, "steelblue", "utilisation, 0 to 100 %", 16,
              [](const Sample& sample) { return sample.gpu_utilization.value_or(0) / 100.0; });
    draw_line(out, samples, "darkorange",
              "memory in use, 0 to " + std::to_string(peak >> 20U) + " MiB", 32,
              [peak](const Sample& sample) {
                  return static_cast<double>(sample.memory_used.value_or(0)) /
                         static_cast<double>(std::max<std::uint64_t>(peak, 1));
              });
    out << "<text x='" << WIDTH - MARGIN << "' y='16' text-anchor='end'>" << name
        << "</text>\n</svg>\n";
    return out.str();
}

} // namespace

int main(int count, char** arguments) {
    const cuprum::Device device;
    const cuprum::system::Device watched = device.to_system_device();

    std::vector<Sample> samples;
    std::atomic<bool> is_over = false;
    std::thread monitor([&] {
        for (const Sample& sample : cuprum::system::SampleRange(watched, {.interval = INTERVAL})) {
            samples.push_back(sample);
            if (is_over) {
                return;
            }
        }
    });
    work(device);
    is_over = true;
    monitor.join();

    std::uint64_t peak = 0;
    for (const Sample& sample : samples) {
        peak = std::max(peak, sample.memory_used.value_or(0));
    }
    const std::filesystem::path path =
        count > 1 ? std::filesystem::path(arguments[1])
                  : std::filesystem::temp_directory_path() /
                        ("cuprum_monitor_" + device.uuid().substr(0, 8) + ".svg");
    std::ofstream(path) << draw(samples, peak, watched.name());
    std::cout << samples.size() << " samples of " << watched.name() << "\nmemory: at most "
              << (peak >> 20U) << " MiB\n";
    for (const auto reason : watched.clock_event_reasons()) {
        std::cout << "clocks: " << explain(reason) << '\n';
    }
    std::cout << "drawn in " << path << '\n';
    return samples.size() > 5 ? 0 : 1;
}
