// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fast_method.hpp"

#include "support/arguments.hpp"
#include "support/class_method.hpp"
#include "support/instances.hpp"

#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string_view>
#include <vector>

namespace cuprum::python::fast {

namespace {

[[nodiscard]] std::vector<std::string> split(std::string_view parameters);
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// Returns where `wanted` stands outside all brackets and quotes.
[[nodiscard]] std::size_t find_outside(std::string_view text, char wanted);
void note_signature(nb::handle type, const std::string& name, const char* signature);
[[nodiscard]] PyTypeObject& polled_property_type(descrgetfunc get_of);

} // namespace

void ParameterList::sort(PyObject* const* values, std::size_t given, PyObject* keywords,
                         PyObject** sorted) const {
    if (given > positional) [[unlikely]] {
        std::string text = method + "() takes at most " + std::to_string(positional) +
                           " positional argument" + (positional == 1 ? ", " : "s, ") +
                           std::to_string(given) + " given";
        if (given <= count) {
            text += "; pass " + nb::cast<std::string>(nb::handle(names[positional])) + " by name";
        }
        raise_error(PyExc_TypeError, text);
    }
    for (std::size_t i = 0; i < given; ++i) {
        sorted[i] = values[i];
    }
    for (std::size_t i = given; i < count; ++i) {
        sorted[i] = nullptr;
    }
    const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < named; ++i) {
        PyObject* const keyword = PyTuple_GET_ITEM(keywords, i);
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
        if (place == count || sorted[place] != nullptr) [[unlikely]] {
            raise_error(PyExc_TypeError,
                        method +
                            (place == count ? "() got an unexpected keyword argument "
                                            : "() got multiple values for argument ") +
                            repr_text(keyword));
        }
        sorted[place] = values[given + static_cast<std::size_t>(i)];
    }
    for (std::size_t i = given; i < count; ++i) {
        if (sorted[i] == nullptr) {
            if (required[i]) [[unlikely]] {
                std::string text = method + "() missing 1 required " +
                                   (i < positional ? "positional" : "keyword-only") +
                                   " argument: " + repr_text(names[i]);
                if (PyUnicode_CompareWithASCIIString(names[i], "stream") == 0) {
                    text += "; pass a stream of device.create_stream(), or device.default_stream";
                }
                raise_error(PyExc_TypeError, text);
            }
            sorted[i] = Py_None;
        }
    }
}

ReadSignature read_signature(const char* signature, ParameterList& parameters) {
    const std::string_view text(signature);
    const std::size_t open = text.find('(');
    constexpr std::string_view def = "def ";
    if (!text.starts_with(def) || open == std::string_view::npos) {
        throw std::logic_error("not a signature: " + std::string(text));
    }
    ReadSignature read;
    read.name = trimmed(text.substr(def.size(), open - def.size()));
    const std::string_view rest = text.substr(open + 1);
    const std::size_t close = find_outside(rest, ')');
    read.text = read.name + "($self, /";
    parameters = ParameterList();
    parameters.method = read.name;
    bool is_keyword_only = false;
    bool is_self = true;
    for (const std::string& parameter : split(rest.substr(0, close))) {
        if (is_self) {
            is_self = false;
            continue;
        }
        if (parameter == "/") {
            continue;
        }
        if (parameter == "*") {
            is_keyword_only = true;
            read.text += ", *";
            continue;
        }
        const std::size_t equals = find_outside(parameter, '=');
        const std::string_view before = std::string_view(parameter).substr(0, equals);
        const std::string name(trimmed(before.substr(0, before.find(':'))));
        const bool has_default = equals != std::string_view::npos;
        const std::size_t index = parameters.count++;
        parameters.names.at(index) = PyUnicode_InternFromString(name.c_str()); // never freed
        parameters.required.at(index) = !has_default;
        parameters.positional += is_keyword_only ? 0 : 1;
        read.text += ", " + name;
        if (has_default) {
            read.text += "=" + std::string(trimmed(std::string_view(parameter).substr(equals + 1)));
        }
    }
    read.text += ")";
    return read;
}

void check_count(const ReadSignature& read, const ParameterList& parameters, std::size_t expected) {
    if (parameters.count != expected) {
        throw std::logic_error(read.text + " does not have the parameters of its function");
    }
}

void add_method(nb::handle type, const char* signature, const ReadSignature& read,
                const char* documentation, PyCFunction function, int flags) {
    // The type keeps pointers to all of this, so it is never freed.
    const auto* name = new std::string(read.name);
    const auto* text = new std::string(read.text + "\n--\n\n" + documentation);
    auto* definition = new PyMethodDef{name->c_str(), function, flags, text->c_str()};
    const nb::object method =
        nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), definition));
    nb::setattr(type, name->c_str(), method);
    note_signature(type, read.name, signature);
}

void add_class_method(nb::handle type, const char* signature, const ReadSignature& read,
                      const char* documentation, PyCFunction function, int flags) {
    const auto* name = new std::string(read.name);
    const auto* text = new std::string(read.name + "($type" +
                                       read.text.substr(read.name.size() + sizeof("($self") - 1) +
                                       "\n--\n\n" + documentation);
    auto* definition = new PyMethodDef{name->c_str(), function, flags, text->c_str()};
    nb::setattr(type, name->c_str(), make_class_method(type, definition));
    note_signature(type, read.name, (std::string("@classmethod\n    ") + signature).c_str());
}

void add_property(nb::handle type, const char* name, const char* signature,
                  const char* documentation, getter get, descrgetfunc get_of) {
    const auto* kept = new std::string(name);
    auto* definition = new PyGetSetDef{kept->c_str(), get, nullptr, documentation, nullptr};
    const nb::object property =
        nb::steal(PyDescr_NewGetSet(reinterpret_cast<PyTypeObject*>(type.ptr()), definition));
    if (get_of != nullptr) {
        Py_SET_TYPE(property.ptr(), &polled_property_type(get_of));
    }
    nb::setattr(type, name, property);
    note_signature(type, *kept, (std::string("@property\n    ") + signature).c_str());
}

void* unusual_self(nb::handle self) {
    if (!is_ready(self)) {
        raise_error(PyExc_TypeError, type_label(self) + " object is not initialised: it was "
                                                        "created with __new__ alone");
    }
    return payload<void>(self);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

std::size_t find_outside(std::string_view text, char wanted) {
    int depth = 0;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char letter = text[i];
        if (quote != 0) {
            quote = letter == quote ? '\0' : quote;
        } else if (depth == 0 && letter == wanted) {
            return i;
        } else if (letter == '\'' || letter == '"') {
            quote = letter;
        } else if (letter == '(' || letter == '[' || letter == '{') {
            ++depth;
        } else if (letter == ')' || letter == ']' || letter == '}') {
            --depth;
        }
    }
    return std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<std::string> split(std::string_view parameters) {
    std::vector<std::string> parts;
    while (!trimmed(parameters).empty()) {
        const std::size_t comma = find_outside(parameters, ',');
        parts.emplace_back(trimmed(parameters.substr(0, comma)));
        if (comma == std::string_view::npos) {
            break;
        }
        parameters.remove_prefix(comma + 1);
    }
    return parts;
}

PyObject* property_text(PyObject* self, void* /*closure*/) {
    return PyUnicode_FromString(reinterpret_cast<PyGetSetDescrObject*>(self)->d_getset->doc);
}

// Said again: else the text of the type, which has none, would hide that of the property.
PyGetSetDef polled_property_facts[] = {
    {"__doc__", property_text, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

/// Makes a type of properties that differ from Python's own in how they are asked: by `get_of`.
PyTypeObject& polled_property_type(descrgetfunc get_of) {
    auto* const type = new PyTypeObject{}; // never freed
    type->ob_base = PyVarObject{PyObject_HEAD_INIT(nullptr) 0};
    type->tp_name = "cuprum._cuprum.polled_property";
    type->tp_basicsize = PyGetSetDescr_Type.tp_basicsize;
    type->tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
    type->tp_base = &PyGetSetDescr_Type;
    type->tp_descr_get = get_of;
    type->tp_getset = polled_property_facts;
    if (PyType_Ready(type) != 0) {
        throw nb::python_error();
    }
    return *type;
}

/// Writes it into the module's `_signatures`, for tools/write-stubs.
void note_signature(nb::handle type, const std::string& name, const char* signature) {
    const nb::object module =
        nb::module_::import_(nb::cast<std::string>(nb::object(type.attr("__module__"))).c_str());
    if (!nb::hasattr(module, "_signatures")) {
        module.attr("_signatures") = nb::dict();
    }
    const nb::str key(
        (nb::cast<std::string>(nb::object(type.attr("__qualname__"))) + "." + name).c_str());
    nb::cast<nb::dict>(nb::object(module.attr("_signatures")))[key] = signature;
}

} // namespace

} // namespace cuprum::python::fast
