// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Reading a device again and again: `for (const Sample& sample : SampleRange(device, options))`.

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/system/device.hpp>
#include <cuprum/system/values.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

namespace cuprum::system {

/// What a device did at one moment. Empty members are those that the device does not report.
struct Sample {
    std::chrono::system_clock::time_point time;                       // when it was taken
    std::optional<unsigned> gpu_utilization;                          // percent
    std::optional<unsigned> memory_utilization;                       // percent
    std::optional<std::uint64_t> memory_used;                         // bytes
    std::optional<std::uint64_t> memory_total;                        // bytes
    std::optional<int> temperature;                                   // degrees Celsius
    std::optional<unsigned> power_mw;                                 // milliwatts
    std::optional<std::uint64_t> energy_mj;                           // since the driver was loaded
    std::optional<unsigned> sm_clock_mhz;                             // of the processors
    std::optional<unsigned> memory_clock_mhz;                         // of the memory
    std::optional<std::vector<ClockEventReason>> clock_event_reasons; // why the clocks are slow
};

/// Reads a sample.
/// @throws NVMLError if the device is lost. What it does not support is left empty.
[[nodiscard]] CUPRUM_API Sample read_sample(const Device& device);

/// How to sample.
struct SampleOptions {
    /// The time between two samples.
    std::chrono::nanoseconds interval = std::chrono::seconds(1);
    std::optional<std::size_t> count = std::nullopt; // without limit if empty
};

/// Samples at a fixed interval. The first comes at once. A late reader skips what it missed, so
/// that samples never come faster than the interval.
///
/// @code
/// const cuprum::system::Device gpu(0);
/// const cuprum::system::SampleOptions options{.interval = std::chrono::seconds(1), .count = 2};
/// for (const cuprum::system::Sample& sample : cuprum::system::SampleRange(gpu, options)) {
///     std::printf("%u %%\n", sample.gpu_utilization.value_or(0));
/// }
/// @endcode
class CUPRUM_API SampleRange {
public:
    /// @throws std::invalid_argument unless the interval is positive.
    explicit SampleRange(const Device& device, const SampleOptions& options = {});

    /// The place of one sample; it waits for the next.
    class CUPRUM_API Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Sample;
        using difference_type = std::ptrdiff_t;
        using pointer = const Sample*;
        using reference = const Sample&;

        /// Returns the sample.
        reference operator*() const noexcept { return sample_; }

        /// Returns the sample.
        pointer operator->() const noexcept { return &sample_; }

        /// Sleeps until the next sample is due and reads it.
        Iterator& operator++();

        /// Waits for the next sample.
        void operator++(int) { ++*this; }

        friend bool operator==(const Iterator& iterator, std::default_sentinel_t) noexcept {
            return iterator.left_ == 0;
        }

    private:
        friend class SampleRange;

        explicit Iterator(const SampleRange& range);

        const SampleRange* range_;
        std::size_t left_;
        std::chrono::steady_clock::time_point due_;
        Sample sample_;
    };

    /// Takes the first sample.
    [[nodiscard]] Iterator begin() const { return Iterator(*this); }

    /// Returns the end, which comes after `count` samples.
    [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

private:
    Device device_;
    SampleOptions options_;
};

} // namespace cuprum::system
