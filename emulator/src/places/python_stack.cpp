// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "places/python_stack.hpp"

#include "places/python_frames.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

namespace cuprum::emulator::places {

namespace {

/// The Python functions in use, as the stable ABI declares them (3.10 to 3.15). All objects are
/// opaque. The functions under "Optional" do not exist in every version.
struct Python {
    int (*is_initialized)() = nullptr;
    void* (*this_thread)() = nullptr; // the thread's state, whether attached or not; needs no GIL
    void* (*eval_get_frame)() = nullptr;
    void* (*frame_get_back)(void*) = nullptr;
    void* (*frame_get_code)(void*) = nullptr;
    int (*frame_get_line)(void*) = nullptr;
    void* (*get_attribute)(void*, const char*) = nullptr;
    const char* (*utf8_of)(void*, std::ptrdiff_t*) = nullptr;
    void (*increase)(void*) = nullptr;
    void (*decrease)(void*) = nullptr;
    void (*error_fetch)(void**, void**, void**) = nullptr;
    void (*error_restore)(void*, void*, void*) = nullptr;
    int (*gc_disable)() = nullptr;
    int (*gc_enable)() = nullptr;

    // Optional.
    int (*is_finalizing)() = nullptr;
    void* (*holding_thread)() = nullptr; // the state that holds the GIL, of any thread
    void (*dump)(int, void*) = nullptr;  // writes the frames of a thread to a file

    [[nodiscard]] bool is_complete() const noexcept {
        return this_thread != nullptr && eval_get_frame != nullptr && frame_get_back != nullptr &&
               frame_get_code != nullptr && frame_get_line != nullptr && get_attribute != nullptr &&
               utf8_of != nullptr && increase != nullptr && decrease != nullptr &&
               error_fetch != nullptr && error_restore != nullptr && gc_disable != nullptr &&
               gc_enable != nullptr && is_finalizing != nullptr && holding_thread != nullptr;
    }
};

Python find_python();
void walk(const Python& python, PythonFrames& frames);
void read_dump_of(const Python& python, void* thread, PythonFrames& frames);

} // namespace

std::string capture_python() {
    // A program may load Python at any time, so look again until it is found.
    if (::dlsym(RTLD_DEFAULT, "Py_IsInitialized") == nullptr) {
        return {};
    }
    static const Python python = find_python();
    if (!python.is_complete() || python.is_initialized() == 0 || python.is_finalizing() != 0) {
        return {};
    }
    void* const thread = python.this_thread();
    if (thread == nullptr) {
        return {}; // Python does not know this thread
    }
    PythonFrames frames;
    if (python.holding_thread() == thread) {
        walk(python, frames);
    } else if (python.dump != nullptr) {
        read_dump_of(python, thread, frames);
    } else {
        return "in Python; this version shows the line only to threads that hold the GIL";
    }
    return frames.to_text();
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

template <typename Function>
void find(Function*& function, std::initializer_list<const char*> names) {
    for (const char* const name : names) {
        if (function == nullptr) {
            function = reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
        }
    }
}

Python find_python() {
    Python python;
    find(python.is_initialized, {"Py_IsInitialized"});
    find(python.this_thread, {"PyGILState_GetThisThreadState"});
    find(python.eval_get_frame, {"PyEval_GetFrame"});
    find(python.frame_get_back, {"PyFrame_GetBack"});
    find(python.frame_get_code, {"PyFrame_GetCode"});
    find(python.frame_get_line, {"PyFrame_GetLineNumber"});
    find(python.get_attribute, {"PyObject_GetAttrString"});
    find(python.utf8_of, {"PyUnicode_AsUTF8AndSize"});
    find(python.increase, {"Py_IncRef"});
    find(python.decrease, {"Py_DecRef"});
    find(python.error_fetch, {"PyErr_Fetch"});
    find(python.error_restore, {"PyErr_Restore"});
    find(python.gc_disable, {"PyGC_Disable"});
    find(python.gc_enable, {"PyGC_Enable"});
    find(python.is_finalizing, {"Py_IsFinalizing", "_Py_IsFinalizing"});
    // NOTE: not PyGILState_Check, which always returns true once there are subinterpreters.
    find(python.holding_thread, {"PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet"});
    find(python.dump, {"PyUnstable_DumpTraceback", "_Py_DumpTraceback"});
    return python;
}

/// An owned reference.
using Reference = std::unique_ptr<void, void (*)(void*)>;

std::string text_of(const Python& python, void* object, const char* attribute) {
    const Reference value(python.get_attribute(object, attribute), python.decrease);
    std::ptrdiff_t size = 0;
    const char* const text = value == nullptr ? nullptr : python.utf8_of(value.get(), &size);
    return text == nullptr ? std::string{} : std::string(text, static_cast<std::size_t>(size));
}

/// Walks the frames through the public API. The caller holds the GIL.
void walk(const Python& python, PythonFrames& frames) {
    std::array<void*, 3> error{}; // the caller's pending exception, which must survive
    python.error_fetch(error.data(), &error[1], &error[2]);
    // This creates objects. Until 3.11 that can start the garbage collector, which can run any code
    // of the program in the middle of this driver call.
    const int had_collector = python.gc_disable();
    try {
        Reference frame(python.eval_get_frame(), python.decrease); // a borrowed reference
        if (frame != nullptr) {
            python.increase(frame.get());
        }
        bool wants_more = true;
        while (frame != nullptr && wants_more) {
            const Reference code(python.frame_get_code(frame.get()), python.decrease);
            std::string name = text_of(python, code.get(), "co_qualname"); // since 3.11
            if (name.empty()) {
                name = text_of(python, code.get(), "co_name");
            }
            wants_more = frames.add(text_of(python, code.get(), "co_filename"),
                                    python.frame_get_line(frame.get()), name);
            frame.reset(python.frame_get_back(frame.get()));
        }
    } catch (...) {
        // Out of memory: keep the frames found so far.
    }
    if (had_collector != 0) {
        python.gc_enable();
    }
    python.error_restore(error[0], error[1], error[2]); // also drops exceptions raised here
}

/// Reads the frames from the interpreter's dump. The caller does not hold the GIL.
void read_dump_of(const Python& python, void* thread, PythonFrames& frames) {
    // Frames that do not fit are lost; these are the outermost ones. The pipe is created anew each
    // time because a program may close all files that it has not opened itself.
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
        return;
    }
    const int error = errno;
    python.dump(pipe[1], thread);
    ::close(pipe[1]);
    std::string text;
    try {
        std::array<char, 4096> buffer{};
        ssize_t size = 0;
        while ((size = ::read(pipe[0], buffer.data(), buffer.size())) > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(size));
        }
    } catch (...) {
        text.clear();
    }
    ::close(pipe[0]);
    errno = error;
    read_dump(text, frames);
}

} // namespace

} // namespace cuprum::emulator::places
