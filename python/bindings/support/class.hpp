// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How classes and functions are bound: by name.
//
// The stubs in python/cuprum/_cuprum describe every class, method and property once: signature,
// types, default values and documentation. `Class` takes all of that from the table that the build
// makes of them, so a binding names a member and the C++ function behind it and nothing else:
//
//     Class<PyEvent> type(module, "Event", nb::is_weak_referenceable());
//     type.method<sync>("sync", HOT);
//     type.property("handle", [](const PyEvent& self) { return address(self); });
//
// A function takes the object first (as a T, or as an nb::handle) and then one C++ argument for
// each parameter. Arguments are converted by arguments.hpp, which knows their names; what the
// caller left out has the default of the stub. Python calls the function with no layer in between.

#pragma once

#include "support/argument_types.hpp"
#include "support/errors.hpp"
#include "support/gil.hpp"
#include "support/instances.hpp"
#include "support/python_objects.hpp"
#include "support/stub_table.hpp"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cuprum::python {

// ---- how a member is bound --------------------------------------------------------------------

/// How a function is called.
template <int FLAGS>
using How = std::integral_constant<int, FLAGS>;

/// So often called that Python finds it by its shortest way, which knows no annotations.
inline constexpr How<1> HOT{};
/// May wait for the device or for other threads.
inline constexpr How<2> RELEASES_GIL{};
/// Without the GIL, one thread at a time uses the object.
inline constexpr How<4> LOCKS_SELF{};

// ---- parameters --------------------------------------------------------------------------------

/// The positional arguments that `*args` stands for.
using Rest = std::span<PyObject* const>;

/// The parameters of a function, in order.
struct ParameterList {
    static constexpr std::size_t MAX_COUNT = 24;

    const StubEntry* entry = nullptr;
    std::string callable; // for messages, as in "copy_to"
    std::array<const StubParameter*, MAX_COUNT> described{};
    std::array<PyObject*, MAX_COUNT> names{};    // interned
    std::array<PyObject*, MAX_COUNT> defaults{}; // null for what is required
    std::size_t count = 0;
    std::size_t positional = 0; // how many may be given without their name
    bool has_rest = false;
    bool has_named_rest = false;

    /// Reads what the stub says. @throws std::logic_error if there are not `expected` parameters.
    void read(const StubEntry& from, std::string name, std::size_t expected);

    /// Returns whether an argument has no default.
    [[nodiscard]] bool has_required() const noexcept {
        return std::find(defaults.begin(), defaults.begin() + count, nullptr) !=
               defaults.begin() + count;
    }

    /// Sorts what Python passed into `sorted`; what was left out becomes its default. `named_rest`
    /// receives names that the function does not have, if it takes such.
    /// @throws TypeError naming the argument and what the function takes.
    void sort(PyObject* const* values, std::size_t given, PyObject* keywords, PyObject** sorted,
              nb::dict* named_rest = nullptr) const;
};

/// The same for a call as nearly all are: what is named is named once, with an interned string, and
/// nothing is amiss. All that is read lies together.
template <std::size_t COUNT>
struct alignas(64) UsualParameters {
    std::array<PyObject*, COUNT> names{};
    std::array<PyObject*, COUNT> defaults{}; // null for what is required
    std::size_t positional = 0;

    void copy(const ParameterList& parameters) noexcept {
        positional = parameters.positional;
        for (std::size_t i = 0; i < COUNT; ++i) {
            names[i] = parameters.names[i];
            defaults[i] = parameters.defaults[i];
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
        std::array<bool, COUNT> is_given{};
        for (std::size_t i = 0; i < COUNT; ++i) {
            is_given[i] = i < given;
            sorted[i] = i < given ? values[i] : defaults[i];
        }
        const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
        for (Py_ssize_t n = 0; n < named; ++n) {
            PyObject* const keyword = PyTuple_GET_ITEM(keywords, n);
            std::size_t place = given;
            while (place < COUNT && names[place] != keyword) {
                ++place;
            }
            if (place == COUNT || is_given[place]) [[unlikely]] {
                return false;
            }
            is_given[place] = true;
            sorted[place] = values[given + static_cast<std::size_t>(n)];
        }
        bool is_complete = true;
        for (PyObject* const value : sorted) {
            is_complete = is_complete && value != nullptr;
        }
        return is_complete;
    }
};

// ---- results -----------------------------------------------------------------------------------

template <typename T>
[[nodiscard]] PyObject* to_python(T&& value) {
    using Plain = std::remove_cvref_t<T>;
    if constexpr (std::is_same_v<Plain, bool>) {
        return Py_NewRef(value ? Py_True : Py_False);
    } else if constexpr (std::is_base_of_v<nb::handle, Plain>) {
        if constexpr (std::is_base_of_v<nb::object, Plain>) {
            return nb::object(std::forward<T>(value)).release().ptr();
        } else {
            return Py_NewRef(value.ptr());
        }
    } else if constexpr (std::is_integral_v<Plain> && std::is_unsigned_v<Plain>) {
        return PyLong_FromUnsignedLongLong(value);
    } else if constexpr (std::is_integral_v<Plain>) {
        return PyLong_FromLongLong(value);
    } else {
        return nb::cast(std::forward<T>(value)).release().ptr();
    }
}

/// Runs a function and turns its result or exception into Python's.
// NOTE: inline, as all that stands between Python and a bound function: else hot calls take 2 to 6
// ns longer.
template <typename Function>
[[nodiscard, gnu::always_inline]] inline PyObject* answer(const Function& function) noexcept {
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

namespace binding {

// ---- what C++ functions take -------------------------------------------------------------------

/// A function, or a pointer to a member, that is known when the bindings are compiled.
template <auto Function>
struct Constant {
    template <typename... Arguments>
    decltype(auto) operator()(Arguments&&... arguments) const {
        return std::invoke(Function, std::forward<Arguments>(arguments)...);
    }
};

template <typename... Types>
struct TypeList {
    static constexpr std::size_t COUNT = sizeof...(Types);
    template <std::size_t Index>
    using At = std::tuple_element_t<Index, std::tuple<Types...>>;
};

/// What a pointer to a member function takes.
template <typename Pointer>
struct MemberFunction;

#define CUPRUM_MEMBER_FUNCTION(QUALIFIERS)                                                         \
    template <typename Returned, typename Holder, typename... Types>                               \
    struct MemberFunction<Returned (Holder::*)(Types...) QUALIFIERS> {                             \
        using Arguments = TypeList<Types...>;                                                      \
        using All = TypeList<Holder&, Types...>;                                                   \
    };
CUPRUM_MEMBER_FUNCTION()
CUPRUM_MEMBER_FUNCTION(const)
CUPRUM_MEMBER_FUNCTION(noexcept)
CUPRUM_MEMBER_FUNCTION(const noexcept)
#undef CUPRUM_MEMBER_FUNCTION

/// What a function takes, the object included. This is for lambdas.
template <typename Function>
struct ParametersOf {
    using Types = typename MemberFunction<decltype(&Function::operator())>::Arguments;
};

template <auto Function>
struct ParametersOf<Constant<Function>> : ParametersOf<std::remove_const_t<decltype(Function)>> {};

template <typename Returned, typename... Arguments>
struct ParametersOf<Returned (*)(Arguments...)> {
    using Types = TypeList<Arguments...>;
};

template <typename Returned, typename... Arguments>
struct ParametersOf<Returned (*)(Arguments...) noexcept> {
    using Types = TypeList<Arguments...>;
};

template <typename Pointer>
    requires std::is_member_function_pointer_v<Pointer>
struct ParametersOf<Pointer> {
    using Types = typename MemberFunction<Pointer>::All;
};

template <typename Member, typename Holder>
    requires std::is_member_object_pointer_v<Member Holder::*>
struct ParametersOf<Member Holder::*> {
    using Types = TypeList<Holder&>;
};

template <typename T>
inline constexpr bool IS_REST = std::is_same_v<std::remove_cvref_t<T>, Rest> ||
                                std::is_same_v<std::remove_cvref_t<T>, nb::args>;
template <typename T>
inline constexpr bool IS_NAMED_REST = std::is_same_v<std::remove_cvref_t<T>, nb::kwargs>;

/// Whether T is all arguments in one array.
template <typename T>
inline constexpr std::size_t SORTED_COUNT = 0;
template <std::size_t COUNT>
inline constexpr std::size_t SORTED_COUNT<const std::array<PyObject*, COUNT>&> = COUNT;

// ---- the object --------------------------------------------------------------------------------

/// Returns the C++ object of an object that does not hold it inside itself.
/// @throws TypeError if it holds none.
[[nodiscard, gnu::cold]] void* unusual_self(nb::handle self);

/// Returns where a constructor makes its object. @throws TypeError if there is one already.
[[nodiscard]] void* place_of_self(nb::handle self);

/// Returns the object as a function wants it, T being what its Python class holds.
template <typename T, typename Wanted>
[[nodiscard]] decltype(auto) self_argument(PyObject* self) {
    using Plain = std::remove_cvref_t<Wanted>;
    if constexpr (std::is_base_of_v<nb::object, Plain>) {
        return nb::borrow<Plain>(self);
    } else if constexpr (std::is_base_of_v<nb::handle, Plain>) {
        return Plain(nb::handle(self));
    } else {
        // Python has checked the type; an object made with __new__ alone holds nothing.
        if (!is_ready_inside(self)) [[unlikely]] {
            return *static_cast<T*>(unusual_self(self));
        }
        return *inside<T>(self);
    }
}

/// Sets TypeError for a `__new__` without a class.
[[nodiscard]] PyObject* refuse_creation() noexcept;

// ---- calls -------------------------------------------------------------------------------------

/// Calls a function, without the GIL if it is so bound.
template <int FLAGS, typename Function>
[[gnu::always_inline]] inline decltype(auto) run(const Function& function) {
    if constexpr ((FLAGS & RELEASES_GIL) != 0) {
        return without_gil(function);
    } else {
        return function();
    }
}

/// What stands before the parameters of a function.
enum class First : std::uint8_t { None, Object, Class, Place };

/// A bound function: T is what the Python class holds, or void.
template <typename T, typename Function, First FIRST, int FLAGS>
struct Call {
    using Types = typename ParametersOf<Function>::Types;
    static constexpr std::size_t OFFSET = FIRST == First::None ? 0 : 1;
    static constexpr std::size_t ALL = Types::COUNT - OFFSET;

    template <std::size_t Index>
    using At = typename Types::template At<Index + OFFSET>;

    template <std::size_t... Index>
    static constexpr std::size_t count_rest(std::index_sequence<Index...>) {
        return (std::size_t{0} + ... + (IS_REST<At<Index>> || IS_NAMED_REST<At<Index>> ? 1 : 0));
    }

    template <std::size_t... Index>
    static constexpr std::size_t find_rest(std::index_sequence<Index...>) {
        std::size_t found = ALL;
        ((found = IS_REST<At<Index>> && found == ALL ? Index : found), ...);
        return found;
    }

    static constexpr std::size_t sorted_count() {
        if constexpr (ALL == 1) {
            return SORTED_COUNT<At<0>>;
        }
        return 0;
    }

    static constexpr bool IS_SORTED = sorted_count() != 0;
    static constexpr std::size_t RESTS = count_rest(std::make_index_sequence<ALL>());
    static constexpr std::size_t COUNT = IS_SORTED ? sorted_count() : ALL - RESTS;
    static_assert(COUNT <= ParameterList::MAX_COUNT);

    static inline ParameterList parameters;
    static inline UsualParameters<COUNT> usual;

    /// What a call has.
    struct Given {
        std::array<PyObject*, COUNT> sorted;
        Rest rest;
        nb::object named_rest;
    };

    [[gnu::always_inline]] static void sort(PyObject* const* values, std::size_t count,
                                            PyObject* keywords, Given& given) {
        if constexpr (RESTS == 0) {
            if (!usual.sort(values, count, keywords, given.sorted)) [[unlikely]] {
                parameters.sort(values, count, keywords, given.sorted.data());
            }
        } else {
            const std::size_t fixed = std::min(count, parameters.positional);
            given.rest = {values + fixed, count - fixed};
            if (keywords == nullptr && fixed == COUNT) [[likely]] {
                std::copy_n(values, COUNT, given.sorted.begin());
                return;
            }
            nb::dict named =
                parameters.has_named_rest ? nb::dict() : nb::steal<nb::dict>(nb::handle());
            parameters.sort(values, count, keywords, given.sorted.data(), &named);
            given.named_rest = std::move(named);
        }
    }

    /// Converts the argument of one parameter.
    template <std::size_t Index>
    [[gnu::always_inline]] static decltype(auto) convert(const Given& given) {
        using Wanted = At<Index>;
        if constexpr (IS_SORTED) {
            return static_cast<const std::array<PyObject*, COUNT>&>(given.sorted);
        } else if constexpr (std::is_same_v<std::remove_cvref_t<Wanted>, Rest>) {
            return given.rest;
        } else if constexpr (IS_REST<Wanted>) {
            nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(given.rest.size())));
            for (std::size_t i = 0; i < given.rest.size(); ++i) {
                PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(given.rest[i]));
            }
            return nb::borrow<nb::args>(tuple);
        } else if constexpr (IS_NAMED_REST<Wanted>) {
            nb::object named =
                given.named_rest.is_valid() ? nb::borrow(given.named_rest) : nb::object(nb::dict());
            return nb::borrow<nb::kwargs>(named);
        } else {
            constexpr std::size_t before_rest =
                Index > find_rest(std::make_index_sequence<ALL>()) ? Index - 1 : Index;
            if constexpr (std::is_same_v<Wanted, nb::handle>) {
                return nb::handle(given.sorted[before_rest]);
            } else {
                return argument_as<Wanted>(given.sorted[before_rest],
                                           *parameters.described[before_rest]);
            }
        }
    }

    template <typename... Self>
    [[gnu::always_inline]] static decltype(auto) call_with(const Given& given, Self&&... self) {
        return [&]<std::size_t... Index>(
                   std::index_sequence<Index...>) __attribute__((always_inline)) -> decltype(auto) {
            // Converted first: in order, and while this thread has the GIL.
            std::tuple<decltype(convert<Index>(given))...> converted{convert<Index>(given)...};
            return run<FLAGS>([&]() __attribute__((always_inline)) -> decltype(auto) {
                return Function{}(self..., std::forward<decltype(convert<Index>(given))>(
                                               std::get<Index>(converted))...);
            });
        }(std::make_index_sequence<ALL>());
    }

    [[gnu::always_inline]] static decltype(auto) call_on(PyObject* self, const Given& given) {
        if constexpr (FIRST == First::None) {
            return call_with(given);
        } else if constexpr (FIRST == First::Class) {
            return call_with(given, nb::handle(self));
        } else if constexpr (FIRST == First::Place) {
            call_with(given, place_argument(self, place_of_self(self)));
            mark_ready(self);
        } else {
            return call_with(given, self_argument<T, typename Types::template At<0>>(self));
        }
    }

    /// Returns a constructor's first argument: where it makes its object, and the Python object too
    /// if it wants that.
    [[nodiscard]] static auto place_argument(nb::handle self, void* place) {
        using Wanted = typename Types::template At<0>;
        if constexpr (std::is_pointer_v<Wanted>) {
            return static_cast<Wanted>(place);
        } else {
            return Wanted{static_cast<decltype(Wanted::p)>(place), self};
        }
    }

    /// Answers a call of the form METH_NOARGS.
    [[gnu::hot]] static PyObject* call_bare(PyObject* self, PyObject* /*nothing*/) noexcept {
        const auto bare = [&]() __attribute__((always_inline)) -> decltype(auto) {
            return call_on(self, Given{});
        };
        if constexpr ((FLAGS & LOCKS_SELF) != 0) {
            const nb::ft_object_guard lock(self);
            return answer(bare);
        } else {
            return answer(bare);
        }
    }

    /// Answers a call of the form METH_FASTCALL | METH_KEYWORDS.
    [[gnu::hot]] static PyObject* call(PyObject* self, PyObject* const* values, Py_ssize_t count,
                                       PyObject* keywords) noexcept {
        const auto checked = [&]() __attribute__((always_inline)) -> decltype(auto) {
            Given given;
            sort(values, static_cast<std::size_t>(count), keywords, given);
            return call_on(self, given);
        };
        if constexpr ((FLAGS & LOCKS_SELF) != 0) {
            const nb::ft_object_guard lock(self);
            return answer(checked);
        } else {
            return answer(checked);
        }
    }

    /// Answers an operator with another operand, which Python tries elsewhere if it is no such one.
    static PyObject* call_operator(PyObject* self, PyObject* const* values, Py_ssize_t count,
                                   PyObject* keywords) noexcept {
        if constexpr (ALL == 1) {
            if (count == 1 && !is_argument<At<0>>(values[0])) {
                Py_RETURN_NOTIMPLEMENTED;
            }
        }
        return call(self, values, count, keywords);
    }

    /// Makes an object of the class: what Python calls for the class itself.
    static PyObject* construct(PyObject* type, PyObject* const* values, std::size_t count,
                               PyObject* keywords) noexcept {
        return answer([&]() __attribute__((always_inline)) {
            Given given;
            sort(values, static_cast<std::size_t>(PyVectorcall_NARGS(count)), keywords, given);
            if constexpr (FIRST == First::Place) {
                nb::object object = nb::inst_alloc(type);
                call_with(given, place_argument(object, payload<void>(object)));
                mark_ready(object);
                return object;
            } else {
                return nb::object(call_with(given));
            }
        });
    }

    /// Answers a call of `__new__`. Without arguments, a derived class gets an object that holds
    /// nothing, as pickle needs.
    static PyObject* create(PyObject* /*nothing*/, PyObject* const* values, Py_ssize_t count,
                            PyObject* keywords) noexcept {
        if (count == 0) {
            return refuse_creation();
        }
        auto* const type = reinterpret_cast<PyObject*>(TYPE<T>);
        if (count == 1 && keywords == nullptr && (values[0] != type || parameters.has_required())) {
            return answer([&] { return nb::inst_alloc(values[0]); });
        }
        return call(nullptr, values + 1, count - 1, keywords);
    }

    static void read(const StubEntry& entry, std::string name) {
        parameters.read(entry, std::move(name), COUNT);
        usual.copy(parameters);
    }
};

/// Returns a function of the form METH_FASTCALL | METH_KEYWORDS as a PyMethodDef holds every form.
[[nodiscard]] inline PyCFunction as_method(_PyCFunctionFastWithKeywords function) noexcept {
    // NOLINTNEXTLINE(bugprone-casting-through-void): else the compiler warns of the other type.
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

/// How Python calls a function: PyMethodDef's two members.
struct Form {
    PyCFunction function;
    int flags;
};

template <typename Bound>
[[nodiscard]] Form form_of(const StubEntry& entry, const char* name, bool is_operator = false) {
    Bound::read(entry, name);
    if constexpr (Bound::ALL == 0) {
        return {Bound::call_bare, METH_NOARGS};
    } else {
        return {as_method(is_operator ? Bound::call_operator : Bound::call),
                METH_FASTCALL | METH_KEYWORDS};
    }
}

enum class Kind : std::uint8_t { Plain, Hot, ClassMethod, HotClassMethod, Static };

/// Puts a method on a type.
void add_method(nb::handle type, const char* name, const StubEntry& entry, Form form, Kind kind);
/// Puts a property on a type; `get_of` answers in place of Python's own steps.
void add_property(nb::handle type, const char* name, const StubEntry& entry, getter get, setter set,
                  void* closure, descrgetfunc get_of = nullptr);
void add_function(nb::handle module, const char* name, const StubEntry& entry, Form form);
/// Sets `__new__`, and an `__init__` that does nothing and shows what `__new__` takes.
void set_creator(nb::handle type, const StubEntry& entry, PyCFunction create);
/// Has the class called directly.
void set_constructor(nb::handle type, vectorcallfunc construct);
/// Has the class raise RuntimeError instead of making an object.
void refuse_construction(nb::handle type, PyObject* error, std::string text);
/// Raises for `del object.name`.
[[noreturn]] void refuse_deletion(const char* name);

[[nodiscard]] bool is_operator(std::string_view name) noexcept;

template <typename Get, typename Set>
struct Accessors {
    const char* name;
    const StubEntry* entry;
    Get get;
    Set set;
};

template <typename T, typename Function, int FLAGS>
PyObject* get_by(PyObject* self, const Function& function) noexcept {
    const auto ask = [&]() __attribute__((always_inline)) -> decltype(auto) {
        using Self = typename ParametersOf<Function>::Types::template At<0>;
        decltype(auto) object = self_argument<T, Self>(self);
        return run<FLAGS>([&]() __attribute__((always_inline)) -> decltype(auto) {
            return std::invoke(function, object);
        });
    };
    if constexpr ((FLAGS & LOCKS_SELF) != 0) {
        const nb::ft_object_guard lock(self);
        return answer(ask);
    } else {
        return answer(ask);
    }
}

template <typename T, typename Get, typename Set, int FLAGS>
PyObject* get_closure(PyObject* self, void* closure) noexcept {
    return get_by<T, Get, FLAGS>(self, static_cast<Accessors<Get, Set>*>(closure)->get);
}

template <typename T, typename Get, typename Set>
int set_closure(PyObject* self, PyObject* value, void* closure) noexcept {
    const auto& bound = *static_cast<Accessors<Get, Set>*>(closure);
    PyObject* const done = answer([&] {
        if (value == nullptr) {
            refuse_deletion(bound.name);
        }
        using Types = typename ParametersOf<Set>::Types;
        StubParameter parameter =
            bound.entry->parameters().empty() ? StubParameter() : bound.entry->parameters().front();
        parameter.name = bound.name;
        std::invoke(bound.set, self_argument<T, typename Types::template At<0>>(self),
                    argument_as<typename Types::template At<1>>(value, parameter));
    });
    Py_XDECREF(done);
    return done == nullptr ? -1 : 0;
}

/// A hot property.
template <typename T, typename Function>
struct HotProperty {
    [[gnu::hot]] static PyObject* get(PyObject* self, void* /*closure*/) noexcept {
        return get_by<T, Function, 0>(self, Function{});
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
};

/// What a stateless lambda is called by.
template <typename Function>
concept Stateless = std::is_empty_v<Function> && std::is_default_constructible_v<Function>;

} // namespace binding

// ---- classes and functions ---------------------------------------------------------------------

/// A Python class that holds a T, described by the stub of that name.
template <typename T, typename... Bases>
class Class : public nb::class_<T, Bases...> {
    using binding_kind = binding::Kind;

public:
    template <typename... Extra>
    Class(nb::handle scope, const char* name, const Extra&... extra)
        : nb::class_<T, Bases...>(scope, name, stub_entry(name).text, extra...), name_(name) {
        note_type<T>(*this);
    }

    /// Binds a method.
    template <auto Function, int FLAGS = 0>
    Class& method(const char* name, How<FLAGS> /*how*/ = {}) {
        return add<binding::Constant<Function>, binding::First::Object, FLAGS>(
            name, (FLAGS & HOT) != 0 ? binding_kind::Hot : binding_kind::Plain);
    }

    template <binding::Stateless Function, int FLAGS = 0>
    Class& method(const char* name, Function /*function*/, How<FLAGS> /*how*/ = {}) {
        return add<Function, binding::First::Object, FLAGS>(
            name, (FLAGS & HOT) != 0 ? binding_kind::Hot : binding_kind::Plain);
    }

    /// Binds a function that takes no object.
    template <auto Function, int FLAGS = 0>
    Class& static_method(const char* name, How<FLAGS> /*how*/ = {}) {
        return add<binding::Constant<Function>, binding::First::None, FLAGS>(name,
                                                                             binding_kind::Static);
    }

    template <binding::Stateless Function, int FLAGS = 0>
    Class& static_method(const char* name, Function /*function*/, How<FLAGS> /*how*/ = {}) {
        return add<Function, binding::First::None, FLAGS>(name, binding_kind::Static);
    }

    /// Binds a function that takes the class first.
    template <auto Function, int FLAGS = 0>
    Class& class_method(const char* name, How<FLAGS> /*how*/ = {}) {
        return add<binding::Constant<Function>, binding::First::Class, FLAGS>(
            name, (FLAGS & HOT) != 0 ? binding_kind::HotClassMethod : binding_kind::ClassMethod);
    }

    template <binding::Stateless Function>
    Class& class_method(const char* name, Function /*function*/) {
        return add<Function, binding::First::Class, 0>(name, binding_kind::ClassMethod);
    }

    /// Binds a function as the constructor: it makes a T where its first argument points.
    template <auto Function>
    Class& constructor() {
        return add_constructor<binding::Constant<Function>>();
    }

    template <binding::Stateless Function>
    Class& constructor(Function /*function*/) {
        return add_constructor<Function>();
    }

    /// Binds a function as `__new__`: it returns an object, which may have been there before.
    template <auto Function>
    Class& creator() {
        using Bound = binding::Call<T, binding::Constant<Function>, binding::First::None, 0>;
        const StubEntry& entry = stub_entry(name_, "__init__");
        Bound::read(entry, name_);
        binding::set_creator(*this, entry, binding::as_method(Bound::create));
        binding::set_constructor(*this, Bound::construct);
        return *this;
    }

    /// Has the class raise instead of making an object; `text` says what makes one.
    Class& refuse_construction(std::string text, PyObject* error = PyExc_RuntimeError) {
        binding::refuse_construction(*this, error, std::move(text));
        return *this;
    }

    /// Binds a property that is read.
    template <auto Function>
    Class& property(const char* name, How<1> /*hot*/) {
        using Bound = binding::HotProperty<T, binding::Constant<Function>>;
        binding::add_property(*this, name, stub_entry(name_, name), Bound::get, nullptr, nullptr,
                              Bound::get_of);
        return *this;
    }

    template <typename Get, int FLAGS = 0>
    Class& property(const char* name, Get get, How<FLAGS> /*how*/ = {}) {
        return add_property<FLAGS>(name, get, nullptr);
    }

    /// Binds a property that is read and set.
    template <typename Get, typename Set>
        requires(!std::is_same_v<Set, How<1>> && !std::is_same_v<Set, How<2>> &&
                 !std::is_same_v<Set, How<4>>)
    Class& property(const char* name, Get get, Set set) {
        return add_property<0>(name, get, set);
    }

private:
    template <typename Function, binding::First FIRST, int FLAGS>
    Class& add(const char* name, binding::Kind kind) {
        using Bound = binding::Call<T, Function, FIRST, FLAGS>;
        const StubEntry& entry = stub_entry(name_, name);
        binding::add_method(*this, name, entry,
                            binding::form_of<Bound>(entry, name, binding::is_operator(name)), kind);
        return *this;
    }

    template <typename Function>
    Class& add_constructor() {
        using Bound = binding::Call<T, Function, binding::First::Place, 0>;
        const StubEntry& entry = stub_entry(name_, "__init__");
        binding::add_method(*this, "__init__", entry, binding::form_of<Bound>(entry, name_),
                            binding_kind::Plain);
        binding::set_constructor(*this, Bound::construct);
        return *this;
    }

    template <int FLAGS, typename Get, typename Set>
    Class& add_property(const char* name, Get get, Set set) {
        const StubEntry& entry = stub_entry(name_, name);
        auto* const bound = new binding::Accessors<Get, Set>{name, &entry, get, set}; // never freed
        setter setter_of = nullptr;
        if constexpr (!std::is_same_v<Set, std::nullptr_t>) {
            setter_of = binding::set_closure<T, Get, Set>;
        }
        binding::add_property(*this, name, entry, binding::get_closure<T, Get, Set, FLAGS>,
                              setter_of, bound);
        return *this;
    }

    const char* name_;
};

/// Binds a function of the module.
template <auto Function, int FLAGS = 0>
void function(nb::module_& module, const char* name, How<FLAGS> /*how*/ = {}) {
    using Bound = binding::Call<void, binding::Constant<Function>, binding::First::None, FLAGS>;
    const StubEntry& entry = stub_entry(name);
    binding::add_function(module, name, entry, binding::form_of<Bound>(entry, name));
}

template <binding::Stateless Function, int FLAGS = 0>
void function(nb::module_& module, const char* name, Function /*function*/,
              How<FLAGS> /*how*/ = {}) {
    using Bound = binding::Call<void, Function, binding::First::None, FLAGS>;
    const StubEntry& entry = stub_entry(name);
    binding::add_function(module, name, entry, binding::form_of<Bound>(entry, name));
}

} // namespace cuprum::python
