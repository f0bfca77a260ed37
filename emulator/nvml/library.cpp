// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "library.hpp"

#include "interp/clock.hpp"
#include "objects/devices/device.hpp"
#include "usage/record.hpp"

#include <cstring>
#include <mutex>
#include <new>
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

extern "C" {

nvmlReturn_t nvmlInit() {
    return initialize(0);
}

nvmlReturn_t nvmlInit_v2() {
    return initialize(0);
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
    return initialize(flags);
}

nvmlReturn_t nvmlShutdown() {
    const std::lock_guard lock(mutex);
    if (user_count == 0) {
        return NVML_ERROR_UNINITIALIZED;
    }
    if (--user_count == 0) {
        state_slot() = nullptr;
    }
    return NVML_SUCCESS;
}

const char* nvmlErrorString(nvmlReturn_t result) {
    switch (result) {
    case NVML_SUCCESS:
        return "success";
    case NVML_ERROR_UNINITIALIZED:
        return "nvmlInit was not called";
    case NVML_ERROR_INVALID_ARGUMENT:
        return "an argument is invalid";
    case NVML_ERROR_NOT_SUPPORTED:
        return "the device does not support this";
    case NVML_ERROR_NO_PERMISSION:
        return "no permission";
    case NVML_ERROR_ALREADY_INITIALIZED:
        return "already initialised";
    case NVML_ERROR_NOT_FOUND:
        return "not found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
        return "the buffer is too small";
    case NVML_ERROR_INSUFFICIENT_POWER:
        return "a power cable is not attached";
    case NVML_ERROR_DRIVER_NOT_LOADED:
        return "the driver is not loaded";
    case NVML_ERROR_TIMEOUT:
        return "the time is over";
    case NVML_ERROR_IRQ_ISSUE:
        return "the kernel reports a problem with interrupts";
    case NVML_ERROR_LIBRARY_NOT_FOUND:
        return "the library was not found";
    case NVML_ERROR_FUNCTION_NOT_FOUND:
        return "the library lacks this function";
    case NVML_ERROR_CORRUPTED_INFOROM:
        return "the infoROM is damaged";
    case NVML_ERROR_GPU_IS_LOST:
        return "the device has disappeared";
    case NVML_ERROR_RESET_REQUIRED:
        return "the device needs a reset";
    case NVML_ERROR_OPERATING_SYSTEM:
        return "the operating system refused the device";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
        return "library and driver have different versions";
    case NVML_ERROR_IN_USE:
        return "the device is in use";
    case NVML_ERROR_MEMORY:
        return "out of host memory";
    case NVML_ERROR_NO_DATA:
        return "no data";
    case NVML_ERROR_VGPU_ECC_NOT_SUPPORTED:
        return "ECC prevents this on a virtual GPU";
    case NVML_ERROR_INSUFFICIENT_RESOURCES:
        return "too few resources, other than memory";
    case NVML_ERROR_FREQ_NOT_SUPPORTED:
        return "the frequency is not supported";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
        return "the structure has a version that is not supported";
    case NVML_ERROR_DEPRECATED:
        return "the function no longer does anything";
    case NVML_ERROR_NOT_READY:
        return "not ready";
    case NVML_ERROR_GPU_NOT_FOUND:
        return "no device was found";
    case NVML_ERROR_INVALID_STATE:
        return "the device is in the wrong state";
    case NVML_ERROR_RESET_TYPE_NOT_SUPPORTED:
        return "the device does not support this kind of reset";
    default:
        return "unknown error";
    }
}

} // extern "C"
