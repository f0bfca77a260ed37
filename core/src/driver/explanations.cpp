// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/explanations.hpp"

#include "driver/call.hpp"
#include "driver/library.hpp"
#include "driver/table.hpp"
#include "support/once.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace cuprum::driver {

namespace {

struct Explanation {
    int code;
    const char* name;
    const char* sentence; // null: use the driver's text
};

constinit std::atomic<bool> has_peer_access{false}; // whether the program enabled it

/// A failure of work on the device that an error reported in full.
struct ReportedFailure {
    std::mutex mutex;
    int code = 0;
    std::string call; // that reported it
    std::vector<std::string> in_flight;
    std::string report;
};

ReportedFailure& reported_failure() {
    static cuprum::detail::NeverDestroyed<ReportedFailure>
        only; // static objects may meet errors as they end
    return *only;
}

/// Returns whether the loaded driver is the emulated device's.
bool is_emulated_driver() {
    // NOTE: not is_emulated(), which would load a driver.
    return is_library_loaded() && driver_library().is_emulated;
}

// Sorted by code. A test compares the names with the driver's.
constexpr auto EXPLANATIONS = std::to_array<Explanation>({
    // clang-format off
    {0, "CUDA_SUCCESS",
     "the call succeeded"},
    {1, "CUDA_ERROR_INVALID_VALUE",
     "an argument is out of the range that the driver accepts; check sizes, pointers and "
     "flags"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY",
     "the device does not have enough memory; free buffers, trim the memory pool or ask for "
     "less"},
    {3, "CUDA_ERROR_NOT_INITIALIZED",
     "the driver was not initialised in this process; a forked child cannot use its "
     "parent's driver: spawn the process instead"},
    {4, "CUDA_ERROR_DEINITIALIZED",
     "the driver is shutting down; do not use the device while the process exits"},
    {5, "CUDA_ERROR_PROFILER_DISABLED", nullptr},
    {6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED", nullptr},
    {7, "CUDA_ERROR_PROFILER_ALREADY_STARTED", nullptr},
    {8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED", nullptr},
    {34, "CUDA_ERROR_STUB_LIBRARY",
     "the library found is the toolkit's stub for linking, not a driver; remove its folder "
     "(.../stubs) from LD_LIBRARY_PATH"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
     "this call needs a newer driver than the one installed; update the driver"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "the device is busy or reserved: another process may hold it in exclusive mode (see "
     "nvidia-smi), or it needs a reset"},
    {100, "CUDA_ERROR_NO_DEVICE",
     "the driver sees no CUDA device; check nvidia-smi and CUDA_VISIBLE_DEVICES, or use "
     "the emulated device (CUPRUM_DRIVER=emulated)"},
    {101, "CUDA_ERROR_INVALID_DEVICE",
     "no device has this number, or the device does not support the operation"},
    {102, "CUDA_ERROR_DEVICE_NOT_LICENSED", nullptr},
    {200, "CUDA_ERROR_INVALID_IMAGE",
     "the driver cannot load this code; check that it is a complete PTX, cubin or fatbin and "
     "that its type is right"},
    {201, "CUDA_ERROR_INVALID_CONTEXT",
     "no context is current on this thread, or the one used was destroyed; make a device "
     "current first (Device set_current)"},
    {202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT", nullptr},
    {205, "CUDA_ERROR_MAP_FAILED",
     "memory could not be mapped"},
    {206, "CUDA_ERROR_UNMAP_FAILED",
     "memory could not be unmapped"},
    {207, "CUDA_ERROR_ARRAY_IS_MAPPED", nullptr},
    {208, "CUDA_ERROR_ALREADY_MAPPED",
     "the resource is mapped already; unmap it first"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "the code has no image for this device's architecture; compile for its arch, or to PTX"},
    {210, "CUDA_ERROR_ALREADY_ACQUIRED", nullptr},
    {211, "CUDA_ERROR_NOT_MAPPED",
     "the resource is not mapped; map it before use"},
    {212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY",
     "the graphics resource is a buffer, which has a pointer and no arrays"},
    {213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER",
     "the graphics resource is an image, which has arrays and no pointer"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE",
     "the device found a memory error that it could not correct; restart the process, and "
     "reset the device if it happens again"},
    {215, "CUDA_ERROR_UNSUPPORTED_LIMIT", nullptr},
    {216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE", nullptr},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
     "these two devices cannot reach each other's memory; copy through the host instead"},
    {218, "CUDA_ERROR_INVALID_PTX",
     "the PTX was refused by the driver's compiler; its log has line and reason"},
    {219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT",
     "no usable context of OpenGL is current on this thread; make one of this device current "
     "before the call"},
    {220, "CUDA_ERROR_NVLINK_UNCORRECTABLE",
     "an NVLink error could not be corrected; restart the process, and check the links if "
     "this comes again"},
    {221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
     "the driver's PTX compiler (libnvidia-ptxjitcompiler) is missing; reinstall the "
     "driver, or compile to a cubin"},
    {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the PTX is newer than the driver understands: the compiler is of a later CUDA "
     "version than the driver; update the driver, use an older NVRTC, or compile to a "
     "cubin"},
    {223, "CUDA_ERROR_JIT_COMPILATION_DISABLED",
     "compiling PTX is switched off (CUDA_DISABLE_PTX_JIT); unset it or compile to a cubin"},
    {224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY", nullptr},
    {225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC", nullptr},
    {226, "CUDA_ERROR_CONTAINED", nullptr},
    {300, "CUDA_ERROR_INVALID_SOURCE", nullptr},
    {301, "CUDA_ERROR_FILE_NOT_FOUND",
     "the file does not exist or cannot be read"},
    {302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND",
     "the code uses a name that nothing defines; link it with the object code that does"},
    {303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
     "a library that the driver needs could not be started; reinstall the driver"},
    {304, "CUDA_ERROR_OPERATING_SYSTEM",
     "a system call failed inside the driver; look at the system log (dmesg), at limits on "
     "open files and at permissions of /dev/nvidia*"},
    {400, "CUDA_ERROR_INVALID_HANDLE",
     "the handle is not valid here: it was destroyed, or belongs to another context or "
     "device"},
    {401, "CUDA_ERROR_ILLEGAL_STATE",
     "the object is not in a state that allows this call"},
    {402, "CUDA_ERROR_LOSSY_QUERY", nullptr},
    {500, "CUDA_ERROR_NOT_FOUND",
     "no symbol, kernel or resource of this name exists"},
    {600, "CUDA_ERROR_NOT_READY",
     "the work is not finished yet; synchronise first, or ask again"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "a kernel or copy used an address that is not valid on the device (out of bounds, "
     "freed, or host memory); the context is unusable now"},
    {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "the launch needs more registers or shared memory than a block can have; use fewer "
     "threads per block or less shared memory, or limit registers when compiling"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT",
     "the kernel ran longer than the watchdog of this device allows; split the work or use "
     "a device without a display; the context is unusable now"},
    {703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING", nullptr},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "access to this peer is enabled already"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
     "access to this peer was not enabled"},
    {708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
     "the primary context is in use already; set its flags before the first use of the "
     "device"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED",
     "the context was destroyed or reset; its objects can no longer be used"},
    {710, "CUDA_ERROR_ASSERT",
     "a device-side assert failed; the kernel printed its location to standard output; the "
     "context is unusable now"},
    {711, "CUDA_ERROR_TOO_MANY_PEERS",
     "the device already has access to as many peers as the hardware allows; disable one "
     "first"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "this host memory, or a part of it, is registered already"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "this host memory was never registered"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR",
     "a kernel overran its call stack or corrupted it; the context is unusable now; look "
     "for deep recursion or raise the stack limit"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "a kernel executed an instruction that the device does not have, or a tensor copy or "
     "wgmma with operands that it refuses; compile for its architecture, check tensor maps, "
     "coordinates and descriptors; the context is unusable now"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS",
     "a kernel used an address that is not aligned to the size of what it reads or writes; "
     "the context is unusable now; check casts and offsets"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "a kernel used an address of one memory space in an instruction for another; the "
     "context is unusable now"},
    {718, "CUDA_ERROR_INVALID_PC",
     "a kernel jumped to an address that is not code, for instance through a bad function "
     "pointer; the context is unusable now"},
    {719, "CUDA_ERROR_LAUNCH_FAILED",
     "a kernel failed while running, most often by a bad memory access; the context is "
     "unusable now"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "a cooperative launch needs all its blocks resident at once and has too many; use at "
     "most blocks per multiprocessor (kernel occupancy) times multiprocessors"},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", nullptr},
    {800, "CUDA_ERROR_NOT_PERMITTED",
     "this operation is not allowed here, for instance in a stream callback, or by the "
     "rights of the process"},
    {801, "CUDA_ERROR_NOT_SUPPORTED",
     "this device, driver or system does not support the operation"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY",
     "the system is not ready for CUDA: on machines with NVSwitch the fabric manager must "
     "run; check its service"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
     "the kernel module and the driver library are of different versions; reboot, or in a "
     "container update the driver libraries"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "the forward-compatibility driver library was found, but this GPU does not support "
     "it; remove it from LD_LIBRARY_PATH or update the real driver"},
    {805, "CUDA_ERROR_MPS_CONNECTION_FAILED",
     "the MPS server cannot be reached; check that its daemon runs and "
     "CUDA_MPS_PIPE_DIRECTORY is right"},
    {806, "CUDA_ERROR_MPS_RPC_FAILURE", nullptr},
    {807, "CUDA_ERROR_MPS_SERVER_NOT_READY", nullptr},
    {808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", nullptr},
    {809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", nullptr},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED",
     "the MPS server ended this process's connection, mostly because another client "
     "failed; restart the process"},
    {811, "CUDA_ERROR_CDP_NOT_SUPPORTED",
     "the kernel launches kernels itself, which this device or setup does not support"},
    {812, "CUDA_ERROR_CDP_VERSION_MISMATCH", nullptr},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "this operation cannot be captured into a graph; end the capture first or leave the "
     "operation out"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "an earlier error spoiled this stream's capture; end it and capture again"},
    {902, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "this would join two separate captures into one"},
    {903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "this stream is not where the capture began; end it on the stream that began it"},
    {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "a stream that forked from the capture was not joined back; record an event on it and "
     "wait for it before ending the capture"},
    {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
     "this would make captured work depend on work outside the capture"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "a capture is under way that the default stream would have to wait for; use a "
     "non-blocking stream instead of the default one"},
    {907, "CUDA_ERROR_CAPTURED_EVENT",
     "the event was recorded inside a capture, where it stands for no real point in time"},
    {908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "the capture was begun by another thread, which has to end it too, unless it is in "
     "relaxed mode"},
    {909, "CUDA_ERROR_TIMEOUT",
     "the wait took longer than its limit"},
    {910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
     "the graph differs too much from the instantiated one to update it; instantiate it "
     "again"},
    {911, "CUDA_ERROR_EXTERNAL_DEVICE",
     "something outside the device, such as an external semaphore or a DMA peer, failed; "
     "the context is unusable now"},
    {912, "CUDA_ERROR_INVALID_CLUSTER_SIZE",
     "the cluster is larger than the device or this kernel allows; use fewer blocks per "
     "cluster"},
    {913, "CUDA_ERROR_FUNCTION_NOT_LOADED",
     "the kernel is not loaded yet, since lazy loading is on; launch it once or set "
     "CUDA_MODULE_LOADING=EAGER"},
    {914, "CUDA_ERROR_INVALID_RESOURCE_TYPE", nullptr},
    {915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION", nullptr},
    {916, "CUDA_ERROR_KEY_ROTATION", nullptr},
    {999, "CUDA_ERROR_UNKNOWN",
     "the driver met an error that has no code; look at the system log (dmesg); "
     "restarting the process or resetting the device may help"},
    // clang-format on
});

const Explanation* find(CUresult code) {
    const auto* place =
        std::lower_bound(EXPLANATIONS.begin(), EXPLANATIONS.end(), static_cast<int>(code),
                         [](const Explanation& entry, int wanted) { return entry.code < wanted; });
    return place != EXPLANATIONS.end() && place->code == static_cast<int>(code) ? place : nullptr;
}

/// Returns how to go on after failed work on the device, and how to locate the failure for codes
/// that do not show it; else empty.
std::string how_to_go_on(CUresult code) {
    const Explanation* const known = find(code);
    if (known == nullptr || known->sentence == nullptr ||
        std::string_view(known->sentence).find("context is unusable") == std::string_view::npos) {
        return {};
    }
    std::string text = "; " + way_out_of_fault();
    if (code == CUDA_ERROR_ILLEGAL_ADDRESS && has_peer_access.load(std::memory_order_relaxed)) {
        text += "; enable_peer_access does not cover memory of pools: add the device to "
                "memory_resource.peer_accessible_by";
    }
    if (code != CUDA_ERROR_ILLEGAL_ADDRESS && code != CUDA_ERROR_ILLEGAL_INSTRUCTION &&
        code != CUDA_ERROR_LAUNCH_FAILED) {
        return text;
    }
    return text + (is_emulated_driver()
                       ? "; the emulated device's report names the place: kernel, block, thread "
                         "and line"
                       : "; run under compute-sanitizer or on the emulated device to find the "
                         "place");
}

/// Returns the answer of `query` for a code without a sentence here; empty without a driver.
template <typename Query>
std::string ask_driver(const Query& query, CUresult code) noexcept {
    try {
        const char* text = nullptr;
        return query(code, &text) == CUDA_SUCCESS && text != nullptr ? std::string(text)
                                                                     : std::string();
    } catch (...) {
        return {}; // without a driver; a second error would hide the first
    }
}

} // namespace

bool is_about_device_work(int code) noexcept {
    switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
        return true;
    default:
        return false;
    }
}

const char* known_name(CUresult code) noexcept {
    const Explanation* known = find(code);
    return known == nullptr ? nullptr : known->name;
}

std::string name_of(CUresult code) {
    if (const char* known = known_name(code)) {
        return known;
    }
    std::string name = ask_driver(table().cuGetErrorName, code);
    return name.empty() ? "CUresult " + std::to_string(static_cast<int>(code)) : name;
}

std::string way_out_of_fault() {
    // NOTE: on an H200 with driver 580, a reset succeeds and every later call fails as before.
    return is_emulated_driver()
               ? "call device.reset_primary_context() or restart the process"
               : "restart the process: device.reset_primary_context() helps on the "
                 "emulated device only";
}

std::string reported_before(int code, const std::string& call,
                            const std::vector<std::string>& in_flight,
                            std::string_view driver_log) {
    // The first line names the call; a GPU's driver names it in further lines too. The rest is the
    // report, which tells failures apart.
    const std::size_t end = driver_log.find('\n');
    std::string report(end == std::string_view::npos ? std::string_view() : driver_log.substr(end));
    for (std::size_t at = report.find(call); at != std::string::npos && !call.empty();
         at = report.find(call, at)) {
        report.erase(at, call.size());
    }
    if (in_flight.empty() && report.empty()) {
        return {}; // nothing tells two failures apart
    }
    ReportedFailure& last = reported_failure();
    const std::lock_guard held(last.mutex);
    if (last.code == code && last.in_flight == in_flight && last.report == report) {
        return last.call;
    }
    last.code = code;
    last.call = call;
    last.in_flight = in_flight;
    last.report = std::move(report);
    return {};
}

void forget_fault() noexcept {
    const std::lock_guard held(reported_failure().mutex);
    reported_failure().code = 0;
}

void note_peer_access() noexcept {
    has_peer_access.store(true, std::memory_order_relaxed);
}

std::string explanation_of(CUresult code) {
    const Explanation* known = find(code);
    if (known != nullptr && known->sentence != nullptr) {
        return known->sentence + how_to_go_on(code);
    }
    std::string text = ask_driver(table().cuGetErrorString, code);
    return text.empty() ? "the driver gives no explanation for this code" : text;
}

namespace {

constexpr int LOG_VERSION = 12090;
constexpr std::size_t CAPACITY_BYTES = 2048;

// NOTE: plain data, because the driver may log while a thread ends and its other objects are gone.
// The text is allocated with the first message: thread-local data must be small, see warn.hpp.
struct Messages {
    char* text = nullptr; // CAPACITY_BYTES
    std::size_t length = 0;
    bool is_over = false; // the thread is ending
};

constinit thread_local Messages messages{};

/// Frees the text when the thread ends.
struct TextEnder {
    ~TextEnder() {
        delete[] messages.text;
        messages = {.is_over = true};
    }
};

/// Allocates the text on first use. Returns false without memory, or while the thread is ending.
bool make_text() noexcept {
    if (messages.text == nullptr && !messages.is_over) {
        static thread_local TextEnder ender;
        static_cast<void>(ender);
        messages.text = new (std::nothrow) char[CAPACITY_BYTES];
    }
    return messages.text != nullptr;
}

/// Returns whether a driver implements a function. The emulated one refuses some by name.
bool is_implemented(const DriverLibrary& driver, const char* function) {
    if (!driver.is_emulated) {
        return true;
    }
    const auto ask =
        reinterpret_cast<int (*)(const char*)>(driver.library.find("cuprumEmulatorIsImplemented"));
    return ask == nullptr || ask(function) != 0;
}

// Separates messages, which may have several lines.
constexpr char SEPARATOR = '\x1e';

/// Returns whether a message is the last of a failed call. NVIDIA's driver ends with the code that
/// it returns; the emulated one writes one message that begins with the function.
bool ends_a_call(std::string_view message) {
    return message.starts_with("Returning ") || message.starts_with("cu");
}

/// Returns the function that the last message of a call names.
std::string_view function_of(std::string_view message) {
    constexpr std::string_view before = " from ";
    if (const std::size_t from = message.rfind(before); message.starts_with("Returning ")) {
        return from == std::string_view::npos ? std::string_view()
                                              : message.substr(from + before.size());
    }
    return message.substr(0, message.find(':'));
}

/// Returns whether two names mean one function. They may have suffixes, as in cuMemAlloc_v2, and
/// ours may be followed by words.
bool is_same_function(std::string_view logged, std::string_view called) {
    called = called.substr(0, called.find(' '));
    return logged.starts_with(called) || called.starts_with(logged);
}

} // namespace

void attach_error_log(const DriverLibrary& driver) noexcept {
    static std::atomic<bool> is_attached{false}; // a second callback would repeat every message
    try {
        if (is_attached.exchange(true) || driver.version < LOG_VERSION ||
            !is_implemented(driver, "cuLogsRegisterCallback")) {
            return;
        }
        const auto attach = reinterpret_cast<decltype(&cuLogsRegisterCallback)>(
            find_function(driver, "cuLogsRegisterCallback", LOG_VERSION));
        CUlogsCallbackHandle handle = nullptr;
        // A driver without a log is treated like an older one.
        (void)attach(&keep_message, nullptr, &handle);
    } catch (const CUDAError&) {
        return;
    }
}

void keep_message(void* /*data*/, CUlogLevel /*level*/, char* message,
                  std::size_t length) noexcept {
    while (message != nullptr && length != 0 &&
           (message[length - 1] == '\n' || message[length - 1] == '\0')) {
        --length;
    }
    if (message == nullptr || length == 0 || !make_text()) {
        return;
    }
    if (messages.length + length >= CAPACITY_BYTES) {
        messages.length = 0; // only the last messages belong to the error
    }
    if (messages.length != 0) {
        messages.text[messages.length++] = SEPARATOR;
    }
    const std::size_t kept = std::min(length, CAPACITY_BYTES - messages.length);
    std::memcpy(messages.text + messages.length, message, kept);
    messages.length += kept;
}

std::string take_error_log(std::string_view call) {
    std::string text(messages.length == 0 ? "" : messages.text, messages.length);
    messages.length = 0;
    // Calls whose failure was expected have left messages too. Those come first. If no call failed,
    // there is nothing else.
    const std::string_view last = std::string_view(text).substr(text.rfind(SEPARATOR) + 1);
    if (ends_a_call(last) && !is_same_function(function_of(last), call)) {
        return {};
    }
    std::size_t begin = text.rfind(SEPARATOR);
    while (begin != std::string::npos) {
        const std::size_t before =
            begin == 0 ? std::string::npos : text.rfind(SEPARATOR, begin - 1);
        const std::size_t start = before == std::string::npos ? 0 : before + 1;
        if (ends_a_call(std::string_view(text).substr(start, begin - start))) {
            text.erase(0, begin + 1);
            break;
        }
        begin = before;
    }
    std::replace(text.begin(), text.end(), SEPARATOR, '\n');
    return text;
}

} // namespace cuprum::driver
