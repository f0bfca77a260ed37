// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What a kernel of the suite says about itself. A file of this folder holds one kernel in CUDA C++,
// the same work in plain C++ with OpenMP, and an `Entry` that names both.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#if defined(__FLT16_MAX__)
#define CUPRUM_SUITE_HAS_HALF 1
#endif

namespace suite {

/// Values in host memory for the native side, and in device memory for the kernel.
template <typename T>
struct Array {
    T* host = nullptr;
    std::uint64_t device = 0;
};

struct Extent {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
};

/// Makes the arrays of one kernel, and launches it. `T` is an integer of 8, 32 or 64 bits or a
/// floating-point number of 16, 32 or 64.
class Bench {
public:
    explicit Bench(const struct Kernel& kernel);
    ~Bench();
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    /// Adds an array that both sides only read.
    template <typename T>
    Array<T> input(std::vector<T> values);

    /// Adds an array that has these values before each run, and whose values are compared after it.
    template <typename T>
    Array<T> output(std::vector<T> values);

    /// Adds an array as `output`, which is not compared.
    template <typename T>
    Array<T> scratch(std::vector<T> values);

    template <typename T, typename Value>
    Array<T> input(std::size_t count, const Value& value) {
        return input(make<T>(count, value));
    }

    template <typename T>
    Array<T> output(std::size_t count) {
        return output(std::vector<T>(count));
    }

    template <typename T, typename Value>
    Array<T> output(std::size_t count, const Value& value) {
        return output(make<T>(count, value));
    }

    template <typename T>
    Array<T> scratch(std::size_t count) {
        return scratch(std::vector<T>(count));
    }

    /// Enqueues a kernel. Arrays are passed as pointers, everything else as it is.
    template <typename... Arguments>
    void launch(const char* name, Extent grid, Extent block, const Arguments&... arguments) const {
        void* pointers[] = {address(arguments)...};
        launch_with(name, grid, block, pointers);
    }

    /// Waits for the kernels and returns the first value of an array in device memory.
    [[nodiscard]] int read(Array<int> array) const;

    unsigned shared_bytes = 0; ///< dynamic shared memory of later launches
    std::function<void()> device;
    std::function<void()> native;

    /// Sets all outputs of one side to their first values.
    void restore();

    /// Returns the largest error of an output of the device, relative to the magnitude of the
    /// native value and the quadratic mean of its array. An error that is not a number is infinite.
    /// Of each array, the given part of the values with the largest errors does not count.
    [[nodiscard]] double error(double outliers) const;

    void sync() const;

private:
    template <typename T, typename Value>
    static std::vector<T> make(std::size_t count, const Value& value) {
        std::vector<T> values(count);
        for (std::size_t i = 0; i < count; ++i) {
            values[i] = static_cast<T>(value(i));
        }
        return values;
    }

    template <typename T>
    static void* address(const Array<T>& array) {
        return const_cast<std::uint64_t*>(&array.device);
    }

    template <typename T>
    static void* address(const T& value) {
        return const_cast<T*>(&value);
    }

    template <typename T>
    Array<T> add(std::vector<T> values, bool is_restored, bool is_compared);
    void launch_with(const char* name, Extent grid, Extent block, void** arguments) const;

    struct State;
    std::unique_ptr<State> state_;
};

struct Kernel {
    const char* name;
    const char* difference = ""; ///< how the native algorithm differs; empty if it is the same
    std::string source;
    double tolerance = 0; ///< the largest `Bench::error()` of a right result
    double outliers = 0;  ///< the part of each output that may differ more
    void (*prepare)(Bench& bench);
    const char* arch = ""; ///< the architecture to compile for; empty: that of the device
};

/// Adds a kernel to the suite.
struct Entry {
    explicit Entry(Kernel kernel);
};

/// Returns a number from 0 to 2^32 - 1 that looks random.
inline std::uint32_t random_bits(std::size_t i) {
    auto x = static_cast<std::uint32_t>(i) * 0x9E3779B9U + 0x85EBCA6BU;
    x = (x ^ x >> 16) * 0x7FEB352DU;
    x = (x ^ x >> 15) * 0x846CA68BU;
    return x ^ x >> 16;
}

/// Returns a number of [0, 1) that looks random.
inline float random_float(std::size_t i) {
    return static_cast<float>(random_bits(i) >> 8) * 0x1p-24F;
}

} // namespace suite
