// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "library.hpp"

#include "interp/clock.hpp"
#include "objects/devices/device.hpp"
#include "row.hpp"
#include "usage/record.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <stdexcept>

namespace cuprum::nvml {

namespace {

std::mutex mutex;            // of what follows
unsigned int user_count = 0; // calls of nvmlInit less those of nvmlShutdown
[[maybe_unused]] const bool is_mutex_ready = keep_unlocked_in_children<mutex>();

std::shared_ptr<const State>& state_slot() {
    static auto* const slot = new std::shared_ptr<const State>; // for calls while the process exits
    return *slot;
}

nvmlReturn_t initialize(unsigned int flags) noexcept {
    constexpr unsigned int known =
        NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH | NVML_INIT_FLAG_FORCE_INIT;
    if ((flags & ~known) != 0) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    try {
        const std::lock_guard lock(mutex);
        if (user_count == 0) {
            state_slot() = std::make_shared<const State>();
        }
        ++user_count;
        return NVML_SUCCESS;
    } catch (const std::invalid_argument& error) {
        emulator::set_log_level(emulator::read_log_level());
        emulator::log(emulator::LogLevel::Error, error.what());
        return NVML_ERROR_INVALID_ARGUMENT;
    } catch (...) {
        return code_of_exception();
    }
}

nvmlReturn_t shut_down() noexcept {
    const std::lock_guard lock(mutex);
    if (user_count == 0) {
        return NVML_ERROR_UNINITIALIZED;
    }
    if (--user_count == 0) {
        state_slot() = nullptr;
    }
    return NVML_SUCCESS;
}

struct CodeText {
    nvmlReturn_t code;
    const char* text;
};

constexpr CodeText CODE_TEXTS[] = {
    {NVML_SUCCESS, "success"},
    {NVML_ERROR_UNINITIALIZED, "nvmlInit was not called"},
    {NVML_ERROR_INVALID_ARGUMENT, "an argument is invalid"},
    {NVML_ERROR_NOT_SUPPORTED, "the device does not support this"},
    {NVML_ERROR_NO_PERMISSION, "no permission"},
    {NVML_ERROR_ALREADY_INITIALIZED, "already initialised"},
    {NVML_ERROR_NOT_FOUND, "not found"},
    {NVML_ERROR_INSUFFICIENT_SIZE, "the buffer is too small"},
    {NVML_ERROR_INSUFFICIENT_POWER, "a power cable is not attached"},
    {NVML_ERROR_DRIVER_NOT_LOADED, "the driver is not loaded"},
    {NVML_ERROR_TIMEOUT, "the time is over"},
    {NVML_ERROR_IRQ_ISSUE, "the kernel reports a problem with interrupts"},
    {NVML_ERROR_LIBRARY_NOT_FOUND, "the library was not found"},
    {NVML_ERROR_FUNCTION_NOT_FOUND, "the library lacks this function"},
    {NVML_ERROR_CORRUPTED_INFOROM, "the infoROM is damaged"},
    {NVML_ERROR_GPU_IS_LOST, "the device has disappeared"},
    {NVML_ERROR_RESET_REQUIRED, "the device needs a reset"},
    {NVML_ERROR_OPERATING_SYSTEM, "the operating system refused the device"},
    {NVML_ERROR_LIB_RM_VERSION_MISMATCH, "library and driver have different versions"},
    {NVML_ERROR_IN_USE, "the device is in use"},
    {NVML_ERROR_MEMORY, "out of host memory"},
    {NVML_ERROR_NO_DATA, "no data"},
    {NVML_ERROR_VGPU_ECC_NOT_SUPPORTED, "ECC prevents this on a virtual GPU"},
    {NVML_ERROR_INSUFFICIENT_RESOURCES, "too few resources, other than memory"},
    {NVML_ERROR_FREQ_NOT_SUPPORTED, "the frequency is not supported"},
    {NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "the structure has a version that is not supported"},
    {NVML_ERROR_DEPRECATED, "the function no longer does anything"},
    {NVML_ERROR_NOT_READY, "not ready"},
    {NVML_ERROR_GPU_NOT_FOUND, "no device was found"},
    {NVML_ERROR_INVALID_STATE, "the device is in the wrong state"},
    {NVML_ERROR_RESET_TYPE_NOT_SUPPORTED, "the device does not support this kind of reset"},
};

constexpr std::array<nvmlDevice_st, emulator::usage::MAX_DEVICES> make_handles() {
    std::array<nvmlDevice_st, emulator::usage::MAX_DEVICES> handles{};
    for (unsigned int index = 0; index < handles.size(); ++index) {
        handles[index].index = index;
    }
    return handles;
}

std::array<nvmlDevice_st, emulator::usage::MAX_DEVICES> handles = make_handles();

} // namespace

State::State() : settings(emulator::read_settings()), sensors(read_sensors()) {
    emulator::describe_device(0, settings, attributes);
}

std::vector<emulator::usage::ProcessUse> State::processes() const {
    return emulator::usage::read_processes(folder, emulator::now_ns());
}

void require_version(unsigned int given, unsigned int expected) {
    if (given != expected) {
        fail(NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    }
}

std::shared_ptr<const State> current_state() {
    const std::lock_guard lock(mutex);
    return state_slot();
}

nvmlReturn_t code_of_exception() noexcept {
    try {
        throw;
    } catch (const Failure& failure) {
        return failure.code;
    } catch (const std::bad_alloc&) {
        return NVML_ERROR_MEMORY;
    } catch (...) {
        return NVML_ERROR_UNKNOWN;
    }
}

nvmlDevice_t handle_of(unsigned int index) {
    return &handles[index];
}

unsigned int index_of(const State& state, nvmlDevice_t device) {
    const auto address = reinterpret_cast<std::uintptr_t>(device);
    const auto first = reinterpret_cast<std::uintptr_t>(handles.data());
    const std::uintptr_t index = (address - first) / sizeof(nvmlDevice_st);
    require(device, address >= first, (address - first) % sizeof(nvmlDevice_st) == 0,
            index < state.settings.device_count);
    return static_cast<unsigned int>(index);
}

void write_text(std::string_view text, char* buffer, unsigned int length) {
    require(buffer);
    if (text.size() + 1 > length) {
        fail(NVML_ERROR_INSUFFICIENT_SIZE);
    }
    std::memcpy(buffer, text.data(), text.size());
    buffer[text.size()] = '\0';
}

} // namespace cuprum::nvml

using namespace cuprum::nvml;

ALIAS(nvmlInit, initialize, 0);
ALIAS(nvmlInit_v2, initialize, 0);
ALIAS(nvmlInitWithFlags, initialize);
ALIAS(nvmlShutdown, shut_down);

CUPRUM_LIST_ROW(nvmlErrorString, false, false);

extern "C" [[gnu::visibility("default")]] const char* nvmlErrorString(nvmlReturn_t result) {
    const auto* const found = std::ranges::find(CODE_TEXTS, result, &CodeText::code);
    return found != std::end(CODE_TEXTS) ? found->text : "unknown error";
}

extern "C" {

// Made by the linker: the two ends of the section that CUPRUM_LIST_ROW adds to.
[[gnu::visibility("hidden")]] extern const Row* const
    __start_cuprum_rows[]; // NOLINT(bugprone-reserved-identifier)
[[gnu::visibility("hidden")]] extern const Row* const
    __stop_cuprum_rows[]; // NOLINT(bugprone-reserved-identifier)

/// Returns a row of the list of functions, nullptr if there are not so many. For tests.
[[gnu::visibility("default")]] const Row* cuprumEmulatorFunction(std::size_t index) {
    const std::span rows(__start_cuprum_rows, __stop_cuprum_rows);
    return index < rows.size() ? rows[index] : nullptr;
}
}
