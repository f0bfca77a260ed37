// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/error_log.hpp"

#include "driver/call.hpp"

#include <cuprum/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string_view>

namespace cuprum::driver {

namespace {

constexpr int LOG_VERSION = 12090;
constexpr std::size_t CAPACITY_BYTES = 2048;

// NOTE: plain data, because the driver may log while a thread ends and its other objects are gone.
// The text is allocated with the first message: thread-local data must be small, see recycled.hpp.
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
