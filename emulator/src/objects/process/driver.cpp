// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/driver.hpp"

#include "builtins/status_line.hpp"
#include "exec/engine.hpp"
#include "objects/devices/visible_devices.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/host_pages.hpp"
#include "objects/process/call_gate.hpp"
#include "objects/process/error.hpp"
#include "objects/process/host_limits.hpp"
#include "objects/process/leaks.hpp"
#include "objects/process/log.hpp"
#include "objects/process/restore_thread.hpp"
#include "places/place.hpp"
#include "usage/publisher.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>

namespace cuprum::emulator {

namespace {

std::mutex initialize_mutex;

/// Registered memory that this thread has found mapped.
struct KnownMemory {
    std::uint64_t found_ns = 0; // in exec::turn_begin_ns() time; 0: never
    std::uint64_t changes = 0;
    MemoryRange range;
    bool is_read_only = false;
};

/// Answers for registered memory. The program may unmap it without a call of the driver, so the
/// system is asked in every turn of a worker, and not for every access: asking takes as long as
/// several hundred instructions. That keeps kernels from touching what was freed before they ran;
/// nothing can be done about what is freed meanwhile.
bool is_registered(std::uint64_t address, std::uint64_t bytes, bool is_write) {
    thread_local constinit std::array<KnownMemory, 4> known_here{};
    thread_local constinit std::size_t next = 0;
    const auto& allocations = Allocations::instance();
    const std::uint64_t now = exec::turn_begin_ns();
    const std::uint64_t changes = allocations.changes().load(std::memory_order_acquire);
    const auto is_in = [&](const MemoryRange& range) {
        return address - range.base < range.bytes && bytes <= range.bytes - (address - range.base);
    };
    for (const KnownMemory& known : known_here) {
        if (known.found_ns == now && now != 0 && known.changes == changes && is_in(known.range)) {
            return !is_write || !known.is_read_only;
        }
    }
    KnownMemory found{now, changes, {}, false};
    if (!allocations.find_registered(address, found.range, found.is_read_only) ||
        !is_in(found.range)) {
        return false;
    }
    if (is_mapped(found.range.base, found.range.bytes)) {
        known_here[next++ % known_here.size()] = found;
    } else if (!is_mapped(address, bytes)) { // it may be in a part that is still there
        return false;
    }
    return !is_write || !found.is_read_only;
}

/// Answers for memory that the table of granules cannot decide.
bool is_accessible(const MemoryMap& map, std::uint64_t address, std::uint64_t bytes,
                   bool is_write) {
    // Memory in the window that the device may not access stays inaccessible, allocated or not.
    const bool is_in_window = address - map.memory_base < map.memory_bytes;
    if (is_in_window && !map.is_mapped(address, address + bytes - 1, is_write)) {
        return false;
    }
    return is_in_window ? Allocations::instance().covers(address, bytes, is_write)
                        : is_registered(address, bytes, is_write);
}

int device_of(const MemoryMap& map) {
    AddressSpace& space = AddressSpace::instance();
    int device = 0;
    while (device < space.device_count() && &space.map(device) != &map) {
        ++device;
    }
    return device;
}

/// Returns the name of the call that sets what devices may do with memory.
const char* access_call(const Allocation& memory) {
    return memory.kind == MemoryKind::Pooled   ? "cuMemPoolSetAccess"
           : memory.kind == MemoryKind::Mapped ? "cuMemSetAccess"
                                               : "cuCtxEnablePeerAccess";
}

/// What people who enabled peer access should hear about memory of a pool.
constexpr const char* POOL_ACCESS =
    "; cuCtxEnablePeerAccess does not cover memory of pools (with Cuprum, add the device to "
    "memory_resource.peer_accessible_by)";

/// Explains why a device may not access existing memory. Empty if access is not the reason.
std::string describe_missing_access(const MemoryMap& map, const Allocation& memory) {
    const int device = device_of(map);
    if (device == AddressSpace::instance().device_count()) {
        return {};
    }
    if (memory.kind == MemoryKind::Mapped) {
        return "\n  memory to which device " + std::to_string(device) +
               " has no access: cuMemSetAccess was not called for it";
    }
    if (device == memory.device || memory.is_host_accessible()) {
        return {};
    }
    return "\n  memory of device " + std::to_string(memory.device) + ", to which device " +
           std::to_string(device) + " has no access: " + access_call(memory) + " was not called" +
           (memory.kind == MemoryKind::Pooled ? POOL_ACCESS : "");
}

/// Explains why a device may only read memory. Empty if it may write too.
std::string describe_read_only(const MemoryMap& map, std::uint64_t address,
                               const Allocation& memory) {
    if (memory.is_read_only()) {
        return "\n  memory that was registered with CU_MEMHOSTREGISTER_READ_ONLY";
    }
    if (memory.kind == MemoryKind::Registered || map.is_mapped(address, address, true)) {
        return {};
    }
    return "\n  memory that device " + std::to_string(device_of(map)) +
           " may only read: " + access_call(memory) + " gave it CU_MEM_ACCESS_FLAGS_PROT_READ";
}

std::string describe(const MemoryMap& map, std::uint64_t address, bool is_write) {
    const auto& allocations = Allocations::instance();
    const auto memory = allocations.find(address);
    std::string reason;
    if (memory != nullptr && memory->kind == MemoryKind::Registered && !is_mapped(address, 1)) {
        reason =
            "\n  memory that the program has freed or unmapped: wait for the kernel, then call "
            "cuMemHostUnregister, before you free it";
    } else if (memory != nullptr && memory->kind != MemoryKind::Registered &&
               !map.is_mapped(address, address, false)) {
        reason = describe_missing_access(map, *memory);
    } else if (memory != nullptr && is_write) {
        reason = describe_read_only(map, address, *memory);
    }
    return reason + allocations.describe(address);
}

bool find(const MemoryMap& /*map*/, std::uint64_t address, MemoryRange& range) {
    return Allocations::instance().find_for_kernels(address, range);
}

void report(const std::string& text) {
    log(LogLevel::Error, text);
}

/// Returns the machine's devices that this process has. An empty list is not the same as none: it
/// hides all devices.
std::vector<int> devices_of_process(const Settings& settings) {
    if (const char* const list = ::secure_getenv(VISIBLE_DEVICES_VARIABLE); list != nullptr) {
        return visible_devices(list, settings.device_count, settings.major);
    }
    std::vector<int> all(settings.device_count);
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// Says how many devices CUDA_VISIBLE_DEVICES hides. It is set.
std::string hidden_text(std::uint32_t all, std::size_t visible) {
    const char* const list = ::secure_getenv(VISIBLE_DEVICES_VARIABLE);
    return std::string(VISIBLE_DEVICES_VARIABLE) + "='" + (list == nullptr ? "" : list) +
           "' hides " + (visible == 0 ? "all" : std::to_string(all - visible)) + " of " +
           std::to_string(all) + " emulated device(s)";
}

} // namespace

Driver& Driver::instance() {
    static auto* driver = new Driver;
    return *driver;
}

void Driver::initialize() {
    if (is_forked()) {
        refuse();
    }
    const std::lock_guard lock(initialize_mutex);
    if (state_.load(std::memory_order_acquire) != State::Fresh) {
        check_initialized();
        return;
    }
    set_log_level(read_log_level());
    Settings settings;
    try {
        settings = read_settings();
    } catch (const std::invalid_argument& error) {
        log(LogLevel::Error, error.what());
        fail(CUDA_ERROR_INVALID_VALUE, error.what());
    }
    const std::vector<int> units = devices_of_process(settings);
    if (units.empty()) {
        fail(CUDA_ERROR_NO_DEVICE,
             hidden_text(settings.device_count, 0) +
                 "; unset it, or list the devices to use: " + VISIBLE_DEVICES_VARIABLE + "=0");
    }
    if (!settings.progress_problem.empty()) {
        warn(settings.progress_problem);
    }
    MemoryMap& map = AddressSpace::instance().map();
    map.is_accessible = &is_accessible;
    map.describe = &describe;
    map.find = &find;
    map.changes = &Allocations::instance().changes();
    map.report = settings.stops_at_report ? nullptr : &report;
    AddressSpace::instance().enable_checks(
        static_cast<std::uint8_t>(settings.checks | (settings.is_random ? SHAKE : 0)));
    // After everything above, because the memory maps of other devices are copies.
    const auto device_count = static_cast<int>(units.size());
    AddressSpace::instance().set_device_count(device_count);
    const ProcessorShare share = processor_share();
    exec::Engine::instance().configure(
        {.worker_count = settings.worker_count,
         .watchdog_seconds = settings.watchdog_seconds,
         .is_watchdog_strict = settings.is_watchdog_strict,
         .spin_time = exec::spin_time_for(share.processors, share.quota_millis),
         .progress_after = settings.progress_after,
         .is_random = settings.is_random,
         .seed = settings.seed});
    jit::configure(settings.jit, [](const std::string& text, bool is_detail) {
        log(is_detail ? LogLevel::Debug : LogLevel::Info, text);
    });
    if (settings.is_random) {
        const std::string schedule =
            "the schedule is CUPRUM_EMULATOR_SCHEDULE=random:" + std::to_string(settings.seed);
        settings.is_seed_given ? log(LogLevel::Info, schedule)
                               : note(schedule + "; set it to repeat this run");
    }
    lists_leaks_ = settings.lists_leaks;
    places::set_recorded(static_cast<std::uint8_t>(
        (settings.checks != 0 ? places::OF_MEMORY | places::OF_LAUNCHES : 0) |
        (lists_leaks_ ? places::OF_MEMORY | places::OF_HANDLES : 0)));
    unit_count_ = static_cast<int>(settings.device_count);
    devices_.clear();
    for (int ordinal = 0; ordinal < device_count; ++ordinal) {
        devices_.push_back(std::make_unique<Device>(ordinal, settings));
        devices_.back()->move_to(units[static_cast<std::size_t>(ordinal)]);
    }
    // Workers must stop before the C library destroys what they use. A forked child has no workers:
    // as with a GPU, it cannot use the parent's driver.
    std::atexit([] { leave(); });
    pthread_atfork(nullptr, nullptr, [] {
        auto& state = instance().state_;
        const State before = state.load(std::memory_order_relaxed);
        if (before == State::Ready || before == State::Locked) {
            state.store(State::Forked, std::memory_order_relaxed);
            usage::abandon_in_child();
        }
        RestoreThread::instance().forget_after_fork();
        builtins::StatusLine::instance().forget_after_fork();
    });
    CallGate::prepare();
    if (const std::string problem =
            usage::publish(settings.device_count, exec::Engine::instance().worker_count());
        !problem.empty()) {
        log(LogLevel::Warn, "NVML cannot show this process: " + problem);
    }
    state_.store(State::Ready, std::memory_order_release);
    if (device_count != unit_count_) {
        log(LogLevel::Info, hidden_text(settings.device_count, units.size()));
    }
    log(LogLevel::Info, std::to_string(device_count) +
                            " emulated device(s), compute "
                            "capability " +
                            std::to_string(settings.major) + "." + std::to_string(settings.minor) +
                            ", " + std::to_string(settings.memory_bytes >> 20) + " MiB each");
}

Device& Driver::device(CUdevice ordinal) const {
    if (ordinal < 0 || ordinal >= device_count()) {
        const std::string rest =
            device_count() == unit_count_
                ? std::string(" emulated (CUPRUM_EMULATOR_DEVICES sets the number)")
                : " of " + std::to_string(unit_count_) +
                      " visible (CUDA_VISIBLE_DEVICES lists them)";
        fail(CUDA_ERROR_INVALID_DEVICE, "device " + std::to_string(ordinal) + " does not exist: " +
                                            std::to_string(device_count()) + rest);
    }
    return *devices_[static_cast<std::size_t>(ordinal)];
}

Device& Driver::device_of_unit(int unit) const {
    const auto found =
        std::ranges::find_if(devices_, [&](const auto& device) { return device->unit() == unit; });
    if (found == devices_.end()) {
        fail(CUDA_ERROR_INVALID_DEVICE, "the memory is on device " + std::to_string(unit) +
                                            " of the machine, which this process does not have: "
                                            "add it to CUDA_VISIBLE_DEVICES");
    }
    return **found;
}

void Driver::check_initialized() const {
    const State state = state_.load(std::memory_order_acquire);
    if ((state != State::Ready && state != State::Locked) || HostCallScope::is_inside()) {
        refuse();
    }
}

bool Driver::hold_calls() noexcept {
    State expected = State::Ready;
    if (!state_.compare_exchange_strong(expected, State::Locked)) {
        return false;
    }
    CallGate::order_threads();
    return true;
}

void Driver::resume_calls() noexcept {
    State expected = State::Locked; // not if the process leaves meanwhile
    (void)state_.compare_exchange_strong(expected, State::Ready);
    state_.notify_all();
}

void Driver::wait_or_refuse() const {
    for (;;) {
        // Looked at once: the lock waits for a call that found the driver ready.
        const State state = state_.load(std::memory_order_acquire);
        // A host function does not wait for the lock, which waits for it.
        if ((state != State::Ready && state != State::Locked) || HostCallScope::is_inside()) {
            refuse();
        }
        if (state == State::Ready || CallGate::is_nested()) {
            return;
        }
        CallGate::step_out();
        state_.wait(State::Locked, std::memory_order_acquire);
        CallGate::come_back();
    }
}

void Driver::refuse() const {
    switch (state_.load(std::memory_order_acquire)) {
    case State::Leaving:
        fail(CUDA_ERROR_DEINITIALIZED, "the process is exiting");
    case State::Forked:
        fail(CUDA_ERROR_NOT_INITIALIZED, "the driver was initialised before fork(); start child "
                                         "processes with spawn");
    case State::Ready:
    case State::Locked:
        fail(CUDA_ERROR_NOT_PERMITTED,
             "host functions and callbacks of streams must not call CUDA; notify another thread, "
             "or record an event after them");
    default:
        fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called");
    }
}

void Driver::leave() noexcept {
    Driver& driver = instance();
    const State before = driver.state_.load();
    if (before == State::Ready || before == State::Locked) {
        driver.state_.store(State::Leaving); // calls that are held back stay so
        RestoreThread::instance().withdraw();
        exec::Engine::instance().shutdown();
        jit::shutdown();
        usage::withdraw();
        if (driver.lists_leaks_) {
            if (const std::string leaks = list_leaks(); !leaks.empty()) {
                note(leaks);
            }
        }
    }
}

} // namespace cuprum::emulator
