// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/class.hpp"

#include "support/arguments.hpp"
#include "support/class_method.hpp"
#include "support/instances.hpp"

#include <nanobind/stl/string.h>

#include <map>
#include <stdexcept>
#include <string_view>

namespace cuprum::python {

namespace {

/// Returns a default value as the stub writes it.
nb::object default_value(std::string_view text) {
    if (text == "None") {
        return nb::none();
    }
    if (text == "True" || text == "False") {
        return nb::borrow(text == "True" ? Py_True : Py_False);
    }
    return nb::module_::import_("builtins").attr("eval")(nb::str(text.data(), text.size()));
}

/// Calls a function of cuprum._calls, which writes the text of an error, and raises it.
template <typename... Arguments>
[[noreturn]] void refuse_call(const char* how, const Arguments&... arguments) {
    const nb::object text = nb::module_::import_("cuprum._calls").attr(how)(arguments...);
    PyErr_SetObject(PyExc_TypeError, text.ptr());
    throw nb::python_error();
}

} // namespace

void ParameterList::read(const StubEntry& from, std::string name, std::size_t expected) {
    if (entry != nullptr && entry != &from) {
        throw std::logic_error(std::string(from.name) + " and " + entry->name +
                               " have one C++ function; each needs its own");
    }
    entry = &from;
    callable = std::move(name);
    count = 0;
    positional = 0;
    for (const StubParameter& parameter : from.parameters()) {
        has_rest = has_rest || parameter.kind == StubParameter::REST;
        has_named_rest = has_named_rest || parameter.kind == StubParameter::NAMED_REST;
        if (parameter.kind == StubParameter::REST || parameter.kind == StubParameter::NAMED_REST) {
            continue;
        }
        const std::size_t index = count++;
        described.at(index) = &parameter;
        names.at(index) = PyUnicode_InternFromString(parameter.name); // never freed, as the next
        defaults.at(index) = parameter.fallback == nullptr
                                 ? nullptr
                                 : default_value(parameter.fallback).release().ptr();
        positional += parameter.kind == StubParameter::KEYWORD_ONLY ? 0 : 1;
    }
    if (count != expected) {
        throw std::logic_error(std::string(from.name) + " has " + std::to_string(count) +
                               " parameters in its stub and " + std::to_string(expected) +
                               " in its function");
    }
}

void ParameterList::sort(PyObject* const* values, std::size_t given, PyObject* keywords,
                         PyObject** sorted, nb::dict* named_rest) const {
    if (given > positional && !has_rest) [[unlikely]] {
        refuse_call("too_many", callable, entry->signature, positional, given);
    }
    const std::size_t placed = std::min(given, positional);
    std::copy_n(values, placed, sorted);
    std::fill(sorted + placed, sorted + count, nullptr);
    const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < named; ++i) {
        PyObject* const keyword = PyTuple_GET_ITEM(keywords, i);
        PyObject* const value = values[given + static_cast<std::size_t>(i)];
        std::size_t place = 0;
        while (place < count && keyword != names[place]) { // nearly always interned
            ++place;
        }
        if (place == count) [[unlikely]] {
            place = 0;
            while (place < count && PyUnicode_Compare(keyword, names[place]) != 0) {
                ++place;
            }
        }
        if (place == count && has_named_rest) {
            (*named_rest)[nb::handle(keyword)] = nb::handle(value);
            continue;
        }
        if (place == count) [[unlikely]] {
            refuse_call("unexpected", callable, entry->signature, nb::handle(keyword));
        }
        if (sorted[place] != nullptr) [[unlikely]] {
            refuse_call("repeated", callable, entry->signature, nb::handle(keyword));
        }
        sorted[place] = value;
    }
    for (std::size_t i = placed; i < count; ++i) {
        if (sorted[i] != nullptr) {
            continue;
        }
        if (defaults[i] == nullptr) [[unlikely]] {
            refuse_call("missing", callable, entry->signature, described[i]->name);
        }
        sorted[i] = defaults[i];
    }
}

namespace binding {

namespace {

/// What a method's descriptor points to.
struct Definition {
    PyMethodDef method;
    const StubEntry* entry;
};

PyObject* signature_of(PyObject* self, void* /*closure*/) noexcept {
    return answer([&] {
        const auto* const method = reinterpret_cast<PyMethodDescrObject*>(self)->d_method;
        const auto* const definition = reinterpret_cast<const Definition*>(method);
        return nb::object(
            nb::module_::import_("cuprum._calls").attr("signature")(definition->entry->signature));
    });
}

PyObject* method_text(PyObject* self, void* /*closure*/) noexcept {
    const auto* const method = reinterpret_cast<PyMethodDescrObject*>(self)->d_method;
    const auto* const entry = reinterpret_cast<const Definition*>(method)->entry;
    // The signature comes first, as CPython's own methods have it.
    constexpr std::string_view end_of_signature = ")\n--\n\n";
    std::string_view text = entry->text;
    text.remove_prefix(text.find(end_of_signature) + end_of_signature.size());
    return text.empty()
               ? PyUnicode_FromFormat("%s%s", method->ml_name, entry->signature)
               : PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

// The texts are said again here and below: else that of the type, which has none, would hide them.
PyGetSetDef method_facts[] = {
    {"__signature__", signature_of, nullptr, nullptr, nullptr},
    {"__doc__", method_text, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

/// Derives a type from one of Python's descriptors. It is never freed.
PyTypeObject* derive(PyTypeObject& base, const char* name, PyGetSetDef* facts, descrgetfunc get) {
    auto* const type = new PyTypeObject{};
    type->ob_base = PyVarObject{PyObject_HEAD_INIT(nullptr) 0};
    type->tp_name = name;
    type->tp_basicsize = base.tp_basicsize;
    type->tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
    type->tp_base = &base;
    type->tp_descr_get = get;
    type->tp_getset = facts;
    if (PyType_Ready(type) != 0) {
        throw nb::python_error();
    }
    return type;
}

/// A method whose `__signature__` has the annotations of the stub.
PyTypeObject* annotated_method() {
    static PyTypeObject* const type =
        derive(PyMethodDescr_Type, "cuprum._cuprum.method", method_facts, nullptr);
    return type;
}

PyObject* property_text(PyObject* self, void* /*closure*/) {
    const char* const text = reinterpret_cast<PyGetSetDescrObject*>(self)->d_getset->doc;
    return text == nullptr ? Py_NewRef(Py_None) : PyUnicode_FromString(text);
}

PyGetSetDef property_facts[] = {
    {"__doc__", property_text, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

/// What classes say instead of making an object.
struct Refusal {
    PyObject* error;
    std::string text;
};

std::map<PyTypeObject*, Refusal>& refusals() {
    static auto* const all = new std::map<PyTypeObject*, Refusal>(); // never freed
    return *all;
}

[[noreturn]] void refuse(PyTypeObject* type) {
    for (; type != nullptr; type = type->tp_base) {
        if (const auto found = refusals().find(type); found != refusals().end()) {
            raise_error(found->second.error, found->second.text);
        }
    }
    raise_error(PyExc_TypeError, "the class has no constructor");
}

PyObject* refuse_init(PyObject* self, PyObject* const* /*values*/, Py_ssize_t /*given*/,
                      PyObject* /*keywords*/) noexcept {
    return answer([&] { refuse(Py_TYPE(self)); });
}

PyObject* refuse_class(PyObject* type, PyObject* const* /*values*/, std::size_t /*given*/,
                       PyObject* /*keywords*/) noexcept {
    return answer([&] { refuse(reinterpret_cast<PyTypeObject*>(type)); });
}

/// Calls a method on the class that is the first argument.
PyObject* call_on_class(PyObject* method, PyObject* const* values, Py_ssize_t given,
                        PyObject* keywords) noexcept {
    const auto* const made = static_cast<Definition*>(PyCapsule_GetPointer(method, nullptr));
    if (made->method.ml_flags != METH_NOARGS) {
        const auto function = reinterpret_cast<_PyCFunctionFastWithKeywords>(
            reinterpret_cast<void*>(made->method.ml_meth));
        return function(values[0], values + 1, given - 1, keywords);
    }
    if (given != 1 || keywords != nullptr) {
        PyErr_Format(PyExc_TypeError, "%s() takes no arguments", made->method.ml_name);
        return nullptr;
    }
    return made->method.ml_meth(values[0], nullptr);
}

std::map<PyObject*, Copier>& copiers() {
    static auto* const all = new std::map<PyObject*, Copier>(); // never freed
    return *all;
}

/// Calls a `__new__`. An object of a derived class is a copy of the one that it returns.
PyObject* create_any(PyObject* method, PyObject* const* values, Py_ssize_t given,
                     PyObject* keywords) noexcept {
    const auto* const made = static_cast<Definition*>(PyCapsule_GetPointer(method, nullptr));
    const auto create = reinterpret_cast<_PyCFunctionFastWithKeywords>(
        reinterpret_cast<void*>(made->method.ml_meth));
    const nb::object found = nb::steal(create(nullptr, values, given, keywords));
    if (!found.is_valid() || values[0] == found.type().ptr()) {
        return found.inc_ref().ptr();
    }
    const auto copier = copiers().find(found.type().ptr());
    if (copier == copiers().end()) {
        return found.inc_ref().ptr();
    }
    return answer([&] { return copier->second(values[0], found); });
}

/// Returns a `classmethod`, as programs know class methods.
nb::object class_method(Definition* made) {
    // The function's own object, which Python shows to nobody, stands before the class.
    std::string text = made->entry->text;
    text.replace(text.find("($type"), sizeof("($type") - 1, "($self, type");
    const auto* const kept = new std::string(std::move(text)); // never freed
    auto* const definition = new PyMethodDef{made->method.ml_name, as_method(call_on_class),
                                             METH_FASTCALL | METH_KEYWORDS, kept->c_str()};
    const nb::object capsule = nb::steal(PyCapsule_New(made, nullptr, nullptr));
    const nb::object function = nb::steal(PyCFunction_New(definition, capsule.ptr()));
    return nb::steal(PyClassMethod_New(function.ptr()));
}

PyObject* ignore_init(PyObject* /*self*/, PyObject* const* /*values*/, Py_ssize_t /*given*/,
                      PyObject* /*keywords*/) noexcept {
    Py_RETURN_NONE;
}

} // namespace

void* unusual_self(nb::handle self) {
    if (!is_ready(self)) {
        raise_error(PyExc_TypeError, type_label(self) + " object is not initialised: it was "
                                                        "created with __new__ alone");
    }
    return payload<void>(self);
}

void* place_of_self(nb::handle self) {
    if (is_ready(self)) {
        raise_error(PyExc_TypeError, type_label(self) + " object is initialised already");
    }
    return payload<void>(self);
}

void add_method(nb::handle type, const char* name, const StubEntry& entry, Form form, Kind kind) {
    // The type keeps a pointer to it, so it is never freed.
    auto* const made = new Definition{{name, form.function, form.flags, entry.text}, &entry};
    auto* const owner = reinterpret_cast<PyTypeObject*>(type.ptr());
    nb::object bound;
    switch (kind) {
    case Kind::Plain:
    case Kind::Hot:
        bound = nb::steal(PyDescr_NewMethod(owner, &made->method));
        if (bound.is_valid() && kind == Kind::Plain) {
            Py_SET_TYPE(bound.ptr(), annotated_method());
        }
        break;
    case Kind::ClassMethod:
        bound = class_method(made);
        break;
    case Kind::HotClassMethod:
        bound = make_class_method(type, &made->method);
        break;
    case Kind::Static: {
        const nb::object function = nb::steal(PyCFunction_New(&made->method, nullptr));
        bound = nb::steal(PyStaticMethod_New(function.ptr()));
        break;
    }
    }
    if (!bound.is_valid()) {
        throw nb::python_error();
    }
    nb::setattr(type, name, bound);
}

void add_property(nb::handle type, const char* name, const StubEntry& entry, getter get, setter set,
                  void* closure, descrgetfunc get_of) {
    const char* const text = *entry.text == '\0' ? nullptr : entry.text;
    auto* const definition = new PyGetSetDef{name, get, set, text, closure}; // never freed
    const nb::object property =
        nb::steal(PyDescr_NewGetSet(reinterpret_cast<PyTypeObject*>(type.ptr()), definition));
    if (!property.is_valid()) {
        throw nb::python_error();
    }
    if (get_of != nullptr) {
        // Each type has one way to be asked.
        Py_SET_TYPE(property.ptr(), derive(PyGetSetDescr_Type, "cuprum._cuprum.polled_property",
                                           property_facts, get_of));
    }
    nb::setattr(type, name, property);
}

void add_function(nb::handle module, const char* name, const StubEntry& entry, Form form) {
    auto* const made = new Definition{{name, form.function, form.flags, entry.text}, &entry};
    const nb::object module_name = module.attr("__name__");
    const nb::object function =
        nb::steal(PyCFunction_NewEx(&made->method, nullptr, module_name.ptr()));
    if (!function.is_valid()) {
        throw nb::python_error();
    }
    nb::setattr(module, name, function);
}

void set_constructor(nb::handle type, vectorcallfunc construct) {
    reinterpret_cast<PyTypeObject*>(type.ptr())->tp_vectorcall = construct;
}

void set_copier(nb::handle type, Copier copy) {
    copiers()[type.ptr()] = copy;
}

void set_creator(nb::handle type, const StubEntry& entry, PyCFunction create) {
    constexpr int flags = METH_FASTCALL | METH_KEYWORDS;
    auto* const made = new Definition{{"__new__", create, flags, entry.text}, &entry};
    auto* const definition = new PyMethodDef{"__new__", as_method(create_any), flags, nullptr};
    const nb::object capsule = nb::steal(PyCapsule_New(made, nullptr, nullptr));
    const nb::object function = nb::steal(PyCFunction_New(definition, capsule.ptr()));
    nb::setattr(type, "__new__", nb::steal(PyStaticMethod_New(function.ptr())));
    add_method(type, "__init__", entry, {as_method(ignore_init), flags}, Kind::Plain);
}

void refuse_construction(nb::handle type, PyObject* error, std::string text) {
    auto* const refused = reinterpret_cast<PyTypeObject*>(type.ptr());
    refusals()[refused] = {error, std::move(text)};
    static const StubParameter parameters[] = {
        {"args", "object", nullptr, StubParameter::REST},
        {"kwargs", "object", nullptr, StubParameter::NAMED_REST}};
    static const StubEntry entry{"__init__", "__init__($self, /, *args, **kwargs)\n--\n\n",
                                 "(self, *args: object, **kwargs: object) -> None", parameters, 2};
    add_method(type, "__init__", entry, {as_method(refuse_init), METH_FASTCALL | METH_KEYWORDS},
               Kind::Plain);
    set_constructor(type, refuse_class);
}

void refuse_deletion(const char* name) {
    raise_error(PyExc_AttributeError, std::string(name) + " cannot be deleted");
}

PyObject* refuse_creation() noexcept {
    PyErr_SetString(PyExc_TypeError, "__new__() needs a class as its first argument");
    return nullptr;
}

bool is_operator(std::string_view name) noexcept {
    for (const char* const known :
         {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__sub__", "__rsub__",
          "__isub__", "__add__", "__or__", "__and__", "__mul__"}) {
        if (name == known) {
            return true;
        }
    }
    return false;
}

} // namespace binding

} // namespace cuprum::python
