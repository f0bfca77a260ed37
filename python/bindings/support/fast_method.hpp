// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Methods and properties that Python calls with no layer in between: for those whose own work is
// some ten nanoseconds, where finding an overload and converting arguments would cost more.
//
// A fast method is a plain function whose first parameter is the object and whose others are
// handles, None for what the caller left out. Its signature is written once, as for nb::sig; names,
// defaults and what is keyword-only are read from it when it is bound, and the stub generator gets
// it too. Exceptions become what nanobind would make of them.

#pragma once

#include "support/errors.hpp"
#include "support/instances.hpp"

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace cuprum::python {

namespace fast {

/// The parameters after `self`, read from a signature.
struct ParameterList {
    static constexpr std::size_t MAX_COUNT = 24;

    std::string method;                       // for messages, as in "copy_to"
    std::array<PyObject*, MAX_COUNT> names{}; // interned
    std::size_t count = 0;
    std::size_t positional = 0;             // how many may be given without their name
    std::array<bool, MAX_COUNT> required{}; // has no default

    /// Sorts what Python passed into `sorted`; what was left out becomes None.
    /// @throws TypeError as Python does.
    void sort(PyObject* const* values, std::size_t given, PyObject* keywords,
              PyObject** sorted) const;
};

/// The same for a call as nearly all are: what is named is named once, with an interned string, and
/// nothing is amiss. All that is read lies together.
template <std::size_t COUNT>
struct alignas(64) UsualParameters {
    std::array<PyObject*, COUNT> names{};
    std::array<PyObject*, COUNT> defaults{}; // None, or null for what is required
    std::size_t positional = 0;

    void take(const ParameterList& parameters) noexcept {
        positional = parameters.positional;
        for (std::size_t i = 0; i < COUNT; ++i) {
            names[i] = parameters.names[i];
            defaults[i] = parameters.required[i] ? nullptr : Py_None;
        }
    }

    /// Returns false for an unusual call.
    [[nodiscard]] bool sort(PyObject* const* values, std::size_t given, PyObject* keywords,
                            std::array<PyObject*, COUNT>& sorted) const noexcept {
        // Mostly those that are named are the next ones, so that all are in order.
        std::size_t count = given;
        if (keywords != nullptr) {
            const auto named = static_cast<std::size_t>(PyTuple_GET_SIZE(keywords));
            for (std::size_t n = 0; n < named; ++n, ++count) {
                if (count >= COUNT || PyTuple_GET_ITEM(keywords, static_cast<Py_ssize_t>(n)) !=
                                          names[count]) [[unlikely]] {
                    return sort_any(values, given, keywords, sorted);
                }
            }
        }
        if (given > positional) [[unlikely]] {
            return false;
        }
        bool is_complete = true;
        for (std::size_t i = 0; i < COUNT; ++i) {
            sorted[i] = i < count ? values[i] : defaults[i];
            is_complete = is_complete && sorted[i] != nullptr;
        }
        return is_complete;
    }

    [[nodiscard, gnu::noinline]] bool
    sort_any(PyObject* const* values, std::size_t given, PyObject* keywords,
             std::array<PyObject*, COUNT>& sorted) const noexcept {
        if (given > positional) [[unlikely]] {
            return false;
        }
        for (std::size_t i = 0; i < COUNT; ++i) {
            sorted[i] = i < given ? values[i] : defaults[i];
        }
        const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
        for (Py_ssize_t n = 0; n < named; ++n) {
            PyObject* const keyword = PyTuple_GET_ITEM(keywords, n);
            std::size_t place = given;
            while (place < COUNT && names[place] != keyword) {
                ++place;
            }
            if (place == COUNT) [[unlikely]] {
                return false;
            }
            sorted[place] = values[given + static_cast<std::size_t>(n)];
        }
        bool is_complete = true;
        for (PyObject* const value : sorted) {
            is_complete = is_complete && value != nullptr;
        }
        return is_complete;
    }
};

/// Reads a signature such as "def f(self, a: int, *, b: str = '') -> None" into a list, and returns
/// the name of the method and the text that `inspect` reads.
struct ReadSignature {
    std::string name;
    std::string text; // "f($self, /, a, *, b='')"
};

[[nodiscard]] ReadSignature read_signature(const char* signature, ParameterList& parameters);

/// Puts a method on a type, and its signature where the stub generator finds it.
void add_method(nb::handle type, const char* signature, const ReadSignature& read,
                const char* documentation, PyCFunction function, int flags);
void add_property(nb::handle type, const char* name, const char* signature,
                  const char* documentation, getter get, descrgetfunc get_of = nullptr);
/// Returns the C++ object of an object that does not hold it inside itself.
/// @throws TypeError if it holds none.
[[nodiscard, gnu::cold]] void* unusual_self(nb::handle self);
void check_count(const ReadSignature& read, const ParameterList& parameters, std::size_t expected);

template <typename Self>
[[nodiscard]] decltype(auto) self_argument(PyObject* self) {
    if constexpr (std::is_same_v<Self, nb::handle>) {
        return nb::handle(self);
    } else {
        using T = std::remove_cvref_t<Self>;
        // Python has checked the type; an object made with __new__ alone holds nothing.
        if (!is_ready_inside(self)) [[unlikely]] {
            return *static_cast<T*>(unusual_self(self));
        }
        return *inside<T>(self);
    }
}

[[nodiscard]] inline PyObject* to_python(bool value) noexcept {
    return Py_NewRef(value ? Py_True : Py_False);
}

[[nodiscard]] inline PyObject* to_python(std::size_t value) noexcept {
    return PyLong_FromSize_t(value);
}

[[nodiscard]] inline PyObject* to_python(int value) noexcept {
    return PyLong_FromLong(value);
}

[[nodiscard]] inline PyObject* to_python(unsigned value) noexcept {
    return PyLong_FromUnsignedLong(value);
}

[[nodiscard]] inline PyObject* to_python(unsigned long long value) noexcept {
    return PyLong_FromUnsignedLongLong(value);
}

[[nodiscard]] inline PyObject* to_python(nb::object value) noexcept {
    return value.release().ptr();
}

/// Runs a function and turns its result or exception into Python's.
template <typename Function>
[[nodiscard]] PyObject* answer(const Function& function) noexcept {
    try {
        if constexpr (std::is_void_v<decltype(function())>) {
            function();
            Py_RETURN_NONE;
        } else {
            return to_python(function());
        }
    } catch (...) {
        set_python_error(std::current_exception());
        return nullptr;
    }
}

/// Returns a function of the form METH_FASTCALL | METH_KEYWORDS as a PyMethodDef holds every form.
[[nodiscard]] inline PyCFunction as_method(_PyCFunctionFastWithKeywords function) noexcept {
    // NOLINTNEXTLINE(bugprone-casting-through-void): else the compiler warns of the other type.
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

template <auto Function>
struct FastMethod;

template <typename Result, typename Self, typename... Handles, Result (*Function)(Self, Handles...)>
struct FastMethod<Function> {
    static constexpr std::size_t COUNT = sizeof...(Handles);
    static_assert((std::is_same_v<Handles, nb::handle> && ...));
    static_assert(COUNT <= ParameterList::MAX_COUNT);

    static inline ParameterList parameters;
    static inline UsualParameters<COUNT> usual;

    [[gnu::hot]] static PyObject* call_bare(PyObject* self, PyObject* /*nothing*/) noexcept {
        return answer([&] { return Function(self_argument<Self>(self)); });
    }

    [[gnu::hot]] static PyObject* call(PyObject* self, PyObject* const* values, Py_ssize_t given,
                                       PyObject* keywords) noexcept {
        return answer([&] {
            std::array<PyObject*, COUNT> sorted;
            const auto count = static_cast<std::size_t>(given);
            if (!usual.sort(values, count, keywords, sorted)) [[unlikely]] {
                parameters.sort(values, count, keywords, sorted.data());
            }
            return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
                return Function(self_argument<Self>(self), nb::handle(sorted[Index])...);
            }(std::make_index_sequence<COUNT>());
        });
    }

    [[gnu::hot]] static PyObject* get(PyObject* self, void* /*closure*/) noexcept {
        return answer([&] { return Function(self_argument<Self>(self)); });
    }

    /// Answers what Python asks of a property, with nothing in between if it is the class's own
    /// object that is asked.
    [[gnu::hot]] static PyObject* get_of(PyObject* property, PyObject* object,
                                         PyObject* type) noexcept {
        if (object == nullptr || Py_TYPE(object) != PyDescr_TYPE(property)) [[unlikely]] {
            return PyGetSetDescr_Type.tp_descr_get(property, object, type);
        }
        return get(object, nullptr);
    }

    static void bind(nb::handle type, const char* signature, const char* documentation) {
        const ReadSignature read = read_signature(signature, parameters);
        check_count(read, parameters, COUNT);
        usual.take(parameters);
        if constexpr (COUNT == 0) {
            add_method(type, signature, read, documentation, call_bare, METH_NOARGS);
        } else {
            add_method(type, signature, read, documentation, as_method(call),
                       METH_FASTCALL | METH_KEYWORDS);
        }
    }
};

/// Puts a class method on a type.
void add_class_method(nb::handle type, const char* signature, const ReadSignature& read,
                      const char* documentation, PyCFunction function, int flags);

} // namespace fast

/// Binds `Function` as a method: fast_method<sync>(type, "def sync(self) -> None", "Block until…").
template <auto Function>
void fast_method(nb::handle type, const char* signature, const char* documentation) {
    fast::FastMethod<Function>::bind(type, signature, documentation);
}

/// Binds `Function`, whose first parameter is a handle to the class, as a class method.
template <auto Function>
void fast_class_method(nb::handle type, const char* signature, const char* documentation) {
    using Method = fast::FastMethod<Function>;
    const fast::ReadSignature read = fast::read_signature(signature, Method::parameters);
    fast::check_count(read, Method::parameters, Method::COUNT);
    Method::usual.take(Method::parameters);
    fast::add_class_method(type, signature, read, documentation, fast::as_method(Method::call),
                           METH_FASTCALL | METH_KEYWORDS);
}

/// Binds `Function` as a read-only property:
/// fast_property<size>(type, "def size(self) -> int", "Return…").
template <auto Function>
void fast_property(nb::handle type, const char* signature, const char* documentation) {
    static_assert(fast::FastMethod<Function>::COUNT == 0);
    fast::ParameterList none;
    const fast::ReadSignature read = fast::read_signature(signature, none);
    fast::add_property(type, read.name.c_str(), signature, documentation,
                       fast::FastMethod<Function>::get);
}

/// Binds `Function` as a property that programs poll:
/// polled_property<is_done>(type, "def is_done(self) -> bool", "Return…"). Python then calls it
/// without the steps that all other properties share.
template <auto Function>
void polled_property(nb::handle type, const char* signature, const char* documentation) {
    static_assert(fast::FastMethod<Function>::COUNT == 0);
    fast::ParameterList none;
    const fast::ReadSignature read = fast::read_signature(signature, none);
    fast::add_property(type, read.name.c_str(), signature, documentation,
                       fast::FastMethod<Function>::get, fast::FastMethod<Function>::get_of);
}

} // namespace cuprum::python
