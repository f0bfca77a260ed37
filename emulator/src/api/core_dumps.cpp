// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Settings of core dumps. They are stored and returned, but no dump is ever written, so switching
// dumps on is refused. The report of a fault is on stderr.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/process/error.hpp"

#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>

using namespace cuprum::emulator;

namespace {

constexpr std::size_t MAX_TEXT_BYTES = 1023; // without the NUL, as cuda.h says

/// The settings of the process, or of one context.
struct Settings {
    bool triggers_host = true;
    unsigned int flags = CU_COREDUMP_DEFAULT_FLAGS;
    std::string file;
    std::string pipe;
};

/// Returns the maximum size of an attribute's value.
std::size_t size_of(CUcoredumpSettings attribute) {
    switch (attribute) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION:
    case CU_COREDUMP_TRIGGER_HOST:
    case CU_COREDUMP_LIGHTWEIGHT:
    case CU_COREDUMP_ENABLE_USER_TRIGGER:
        return sizeof(bool);
    case CU_COREDUMP_FILE:
    case CU_COREDUMP_PIPE:
        return MAX_TEXT_BYTES + 1;
    case CU_COREDUMP_GENERATION_FLAGS:
        return sizeof(unsigned int);
    default:
        fail(CUDA_ERROR_INVALID_VALUE, "unknown setting of core dumps");
    }
}

template <typename Value>
void give(const Value& value, void* where, std::size_t size) {
    require(size >= sizeof value, "the memory for the value is too small");
    std::memcpy(where, &value, sizeof value);
}

void give(const std::string& text, void* where, std::size_t size) {
    require(size > text.size(), "the memory for the value is too small");
    std::memcpy(where, text.c_str(), text.size() + 1);
}

bool is_lightweight(const Settings& settings) {
    constexpr auto flags = static_cast<unsigned int>(CU_COREDUMP_LIGHTWEIGHT_FLAGS);
    return (settings.flags & flags) == flags;
}

/// All settings. A context uses those of the process until it gets its own.
class CoreDumps {
public:
    static CoreDumps& instance();

    void get(std::uint64_t context, CUcoredumpSettings attribute, void* value, std::size_t* size);
    void set(std::uint64_t context, CUcoredumpSettings attribute, const void* value,
             const std::size_t* size);

private:
    CoreDumps();

    std::mutex mutex_;
    Settings global_;
    std::map<std::uint64_t, Settings> own_; // by context
};

/// The key for the process in place of a context.
constexpr std::uint64_t PROCESS = 0;

CoreDumps& CoreDumps::instance() {
    static auto* const instance = new CoreDumps; // never destroyed
    return *instance;
}

CoreDumps::CoreDumps() {
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    const std::string suffix = std::string(".cuda.") + host + "." + std::to_string(::getpid());
    global_.file = "core" + suffix;
    global_.pipe = "corepipe" + suffix;
}

void CoreDumps::get(std::uint64_t context, CUcoredumpSettings attribute, void* value,
                    std::size_t* size) {
    require(size != nullptr, "size must not be NULL");
    if (value == nullptr) {
        *size = size_of(attribute);
        return;
    }
    const std::lock_guard lock(mutex_);
    const auto own = own_.find(context);
    const Settings& settings = own == own_.end() ? global_ : own->second;
    switch (attribute) {
    case CU_COREDUMP_TRIGGER_HOST:
        return give(settings.triggers_host, value, *size);
    case CU_COREDUMP_LIGHTWEIGHT:
        return give(is_lightweight(settings), value, *size);
    case CU_COREDUMP_GENERATION_FLAGS:
        return give(settings.flags, value, *size);
    case CU_COREDUMP_FILE:
        return give(settings.file, value, *size);
    case CU_COREDUMP_PIPE:
        return give(settings.pipe, value, *size);
    default:
        (void)size_of(attribute); // throws for unknown attributes
        return give(false, value, *size);
    }
}

void CoreDumps::set(std::uint64_t context, CUcoredumpSettings attribute, const void* value,
                    const std::size_t* size) {
    require(value != nullptr && size != nullptr, "an argument is NULL");
    const std::size_t needed = size_of(attribute);
    const bool is_text = attribute == CU_COREDUMP_FILE || attribute == CU_COREDUMP_PIPE;
    require(is_text || *size >= needed, "the value is too small for the setting");
    const auto* const bytes = static_cast<const char*>(value);
    const std::string text = is_text ? std::string(bytes, strnlen(bytes, *size)) : std::string();
    require(text.size() <= MAX_TEXT_BYTES, "the text is longer than 1023 characters");
    const std::lock_guard lock(mutex_);
    Settings& settings =
        context == PROCESS ? global_ : own_.try_emplace(context, global_).first->second;
    switch (attribute) {
    case CU_COREDUMP_TRIGGER_HOST:
        settings.triggers_host = *bytes != 0;
        break;
    case CU_COREDUMP_LIGHTWEIGHT:
        settings.flags = *bytes != 0 ? CU_COREDUMP_LIGHTWEIGHT_FLAGS : CU_COREDUMP_DEFAULT_FLAGS;
        break;
    case CU_COREDUMP_GENERATION_FLAGS:
        std::memcpy(&settings.flags, value, sizeof settings.flags);
        break;
    case CU_COREDUMP_FILE:
        settings.file = text;
        break;
    case CU_COREDUMP_PIPE:
        settings.pipe = text;
        break;
    default:
        if (*bytes != 0) {
            fail(CUDA_ERROR_NOT_SUPPORTED, "the emulated device writes no core dumps; its report "
                                           "of a fault is on stderr");
        }
    }
}

std::uint64_t current() {
    return current_context()->handle_value();
}

} // namespace

ROW(cuCoredumpGetAttribute, 12010, CUcoredumpSettings attrib, void* value, size_t* size) {
    CoreDumps::instance().get(current(), attrib, value, size);
}

ROW(cuCoredumpGetAttributeGlobal, 12010, Early, CUcoredumpSettings attrib, void* value,
    size_t* size) {
    CoreDumps::instance().get(PROCESS, attrib, value, size);
}

ROW(cuCoredumpSetAttribute, 12010, CUcoredumpSettings attrib, void* value, size_t* size) {
    CoreDumps::instance().set(current(), attrib, value, size);
}

ROW(cuCoredumpSetAttributeGlobal, 12010, Early, CUcoredumpSettings attrib, void* value,
    size_t* size) {
    CoreDumps::instance().set(PROCESS, attrib, value, size);
}
