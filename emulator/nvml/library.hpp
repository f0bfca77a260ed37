// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The state of the emulated NVML, and the C boundary: no exception leaves an exported function.

#pragma once

#include "objects/devices/identity.hpp"
#include "objects/process/settings.hpp"
#include "sensors.hpp"
#include "usage/board.hpp"
#include "usage/folder.hpp"
#include "usage/reader.hpp"

#include <cuda.h>

#include <pthread.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nvml/nvml.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvml_abi {

/// What a device handle points to. The handles of all possible devices exist all the time.
struct nvmlDevice_st {
    unsigned int index;
};

} // namespace nvml_abi

namespace cuprum::nvml {

using namespace nvml_abi;

/// What nvmlInit reads and the other functions use until the last nvmlShutdown.
struct State {
    emulator::Settings settings;
    Sensors sensors;
    emulator::usage::Folder folder;
    std::array<int, CU_DEVICE_ATTRIBUTE_MAX>
        attributes{}; // of device 0, as the driver reports them

    /// Reads the environment. @throws std::invalid_argument naming a variable that is wrong.
    State();

    [[nodiscard]] emulator::usage::Board board() const noexcept {
        return emulator::usage::Board(folder);
    }

    /// Returns what all processes do now.
    [[nodiscard]] std::vector<emulator::usage::ProcessUse> processes() const;
};

/// Ends a function with a result code.
struct Failure {
    nvmlReturn_t code;
};

[[noreturn]] inline void fail(nvmlReturn_t code) {
    throw Failure{code};
}

/// Fails with INVALID_ARGUMENT unless all arguments are good. Pointers are good if they are not
/// null.
template <typename... Conditions>
void require(const Conditions&... conditions) {
    if (!(static_cast<bool>(conditions) && ...)) {
        fail(NVML_ERROR_INVALID_ARGUMENT);
    }
}

/// Fails with ARGUMENT_VERSION_MISMATCH unless a structure has the version that we know.
void require_version(unsigned int given, unsigned int expected);

/// Returns the state, or nullptr before nvmlInit and after the last nvmlShutdown.
[[nodiscard]] std::shared_ptr<const State> current_state();

/// Returns the code of the exception being handled.
[[nodiscard]] nvmlReturn_t code_of_exception() noexcept;

/// Makes forks wait for a mutex, so that a child finds it unlocked. Once per mutex, when the
/// library is loaded. No thread may hold two such mutexes.
template <std::mutex& MUTEX>
[[nodiscard]] bool keep_unlocked_in_children() noexcept {
    const auto unlock = [] { MUTEX.unlock(); };
    return ::pthread_atfork([] { MUTEX.lock(); }, unlock, unlock) == 0;
}

/// Runs the body of an exported function with the state. The body may throw Failure, or return a
/// code if it has one.
template <typename Body>
nvmlReturn_t entry(Body&& body) noexcept {
    try {
        const std::shared_ptr<const State> state = current_state();
        if (state == nullptr) {
            return NVML_ERROR_UNINITIALIZED;
        }
        std::forward<Body>(body)(*state);
        return NVML_SUCCESS;
    } catch (...) {
        return code_of_exception();
    }
}

/// Returns the handle of a device.
[[nodiscard]] nvmlDevice_t handle_of(unsigned int index);

/// Returns the number of a device; fails with INVALID_ARGUMENT unless the handle is valid.
[[nodiscard]] unsigned int index_of(const State& state, nvmlDevice_t device);

/// Runs the body with the state and the number of a device.
template <typename Body>
nvmlReturn_t device_entry(nvmlDevice_t device, Body&& body) noexcept {
    return entry([&](const State& state) {
        const unsigned int index = index_of(state, device);
        std::forward<Body>(body)(state, index);
    });
}

/// Writes one value through a pointer that the caller gave, for functions that return one thing.
template <typename Value, typename Body>
nvmlReturn_t value_entry(nvmlDevice_t device, Value* value, Body&& body) noexcept {
    return device_entry(device, [&](const State& state, unsigned int index) {
        require(value);
        *value = static_cast<Value>(std::forward<Body>(body)(state, index));
    });
}

/// Copies a text with its final zero into a caller's buffer; fails with INSUFFICIENT_SIZE.
void write_text(std::string_view text, char* buffer, unsigned int length);

/// Copies elements into a caller's array of *count elements and stores how many there are. Fails
/// with INSUFFICIENT_SIZE if the array is too small; the caller can then try again.
template <typename Element>
void write_array(const std::vector<Element>& elements, unsigned int* count, Element* array) {
    require(count);
    require(array != nullptr || *count == 0);
    const unsigned int room = *count;
    *count = static_cast<unsigned int>(elements.size());
    if (elements.size() > room) {
        fail(NVML_ERROR_INSUFFICIENT_SIZE);
    }
    for (std::size_t index = 0; index < elements.size(); ++index) {
        array[index] = elements[index];
    }
}

} // namespace cuprum::nvml
