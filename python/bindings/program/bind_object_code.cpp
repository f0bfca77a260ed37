// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "launch/kernel_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/host_memory.hpp"
#include "program/code_type.hpp"
#include "program/program_objects.hpp"
#include "program/program_options.hpp"
#include "support/arguments.hpp"
#include "support/compatibility.hpp"
#include "support/display.hpp"
#include "support/fast_method.hpp"
#include "support/python_objects.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/detail/leave_loaded.hpp>
#include <cuprum/object_code.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>

namespace cuprum::python {

using namespace nb::literals;

namespace {

constexpr std::array CODE_TYPES{CodeType::Ptx,    CodeType::Cubin,  CodeType::LtoIr,
                                CodeType::Fatbin, CodeType::Object, CodeType::Library};

void bind_factories(nb::class_<PyObjectCode>& type);
void bind_variables(nb::class_<PyObjectCode>& type);
[[nodiscard]] nb::object from_any(CodeType type, nb::handle code, nb::handle name,
                                  nb::handle symbols, nb::handle jit);
[[nodiscard]] nb::object code_of(const PyObjectCode& self);
[[nodiscard]] nb::dict symbols_of(const PyObjectCode& self);
[[nodiscard]] nb::object jit_options_of(const PyObjectCode& self);
[[nodiscard]] nb::object get_kernel(const PyObjectCode& self, nb::handle name);

void leave_loaded_if_given_away(const PyObjectCode& code) {
    if (compatibility::leaves_code_loaded()) {
        detail::leave_loaded(code);
    }
}

} // namespace

void bind_object_code(nb::module_& module) {
    nb::class_<PyObjectCode> type(module, "ObjectCode", nb::is_weak_referenceable(),
                                  R"(Compiled code.

Made by ``Program.compile`` or one of the ``from_*`` methods. It is loaded into the driver on first
use and unloaded when the last object and the last kernel from it are gone.

Examples
--------
>>> code = cuprum.Program(source, "c++").compile("ptx")
>>> code.code_type, code.get_kernel("add_one").num_arguments
('ptx', 1))");
    note_type<PyObjectCode>(type);
    type.def(
        "__init__",
        [](nb::handle, const nb::args&, const nb::kwargs&) {
            raise_error(PyExc_RuntimeError,
                        "ObjectCode objects cannot be instantiated directly. Use "
                        "Program.compile() or ObjectCode.from_*()");
        },
        nb::sig("def __init__(self, *args: object, **kwargs: object) -> None"));
    bind_factories(type);
    type.def_prop_ro("code", code_of, nb::sig("def code(self) -> bytes | str"),
                     "Return the code, or the path of the file that holds it.");
    type.def_prop_ro(
        "code_type",
        [](const PyObjectCode& self) { return std::string(to_string(self.code_type())); },
        "Return its format: ptx, cubin, ltoir, fatbin, object or library.");
    type.def_prop_ro(
        "name", [](const PyObjectCode& self) { return self.name(); }, "Return the name.");
    type.def_prop_ro(
        "symbol_mapping", symbols_of, nb::sig("def symbol_mapping(self) -> dict[str, str]"),
        "Return a copy of the map from kernel names in the source to names in the code.");
    type.def_prop_ro(
        "handle",
        [](const PyObjectCode& self) {
            leave_loaded_if_given_away(self);
            const nb::gil_scoped_release unlocked;
            return reinterpret_cast<std::uintptr_t>(self.handle());
        },
        "Return the driver's ``CUlibrary`` as an int. Loads the code on first use.");
    fast_method<get_kernel>(type, "def get_kernel(self, name: str | bytes) -> Kernel",
                            R"(Return a kernel by name.

Parameters
----------
name : str or bytes
    As given in ``name_expressions`` when compiling, or as it is in the code.

Returns
-------
Kernel
    The kernel. It keeps the code loaded.

Raises
------
ValueError
    If there is no such kernel. The message lists the kernels that exist.)");
    type.def_prop_ro("kernel_names", &PyObjectCode::kernel_names,
                     nb::call_guard<nb::gil_scoped_release>(),
                     "Return the names in the code of all kernels. Loads the code on first use.");
    bind_variables(type);
    type.def_prop_ro("is_closed", &PyObjectCode::is_closed, "Return whether ``close`` was called.");
    type.def("close", &PyObjectCode::drop,
             "Release this object's share of the code. Calling it again does nothing.");
    type.def("__reduce__", [](const PyObjectCode& self) {
        return nb::make_tuple(nb::module_::import_("cuprum._pickling").attr("restore_object_code"),
                              nb::make_tuple(nb::cast(to_string(self.code_type())), code_of(self),
                                             self.name(), symbols_of(self), jit_options_of(self)));
    });
    type.def(
        "__eq__",
        [](const PyObjectCode& self, const PyObjectCode& other) {
            return detail::Access::state(self) == detail::Access::state(other);
        },
        nb::is_operator(), nb::sig("def __eq__(self, other: object, /) -> bool"));
    type.def("__hash__", [](const PyObjectCode& self) {
        return std::hash<const void*>{}(detail::Access::state(self).get());
    });
    type.def("__repr__", [](const PyObjectCode& self) -> std::string {
        if (self.is_closed()) {
            return "<ObjectCode closed>";
        }
        return "<ObjectCode name=" + repr_text(nb::cast(self.name())) + " code_type='" +
               std::string(to_string(self.code_type())) +
               "' size=" + std::to_string(self.code().size()) + ">";
    });
    bind_html(type, "object_code");
}

std::optional<CodeType> code_type_from(std::string_view name) {
    const std::string wanted = lower_case(name);
    for (const CodeType type : CODE_TYPES) {
        if (wanted == to_string(type)) {
            return type;
        }
    }
    return std::nullopt;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

template <CodeType Type>
void bind_factory(nb::class_<PyObjectCode>& type, const char* method, const char* signature) {
    type.def_static(
        method,
        [](nb::handle code, nb::handle name, nb::handle symbols, nb::handle jit) {
            return from_any(Type, code, name, symbols, jit);
        },
        "module"_a.none(), nb::kw_only(), "name"_a = "", "symbol_mapping"_a = nb::none(),
        "jit_options"_a = nb::none(), nb::sig(signature),
        R"(Create an ObjectCode from code of this type.

Parameters
----------
module : bytes, str or path
    The code itself as bytes, or the path of a file, read when the code is first needed.
name : str, optional
    Its name in messages.
symbol_mapping : dict of str, optional
    Maps kernel names in the source to their names in the code.
jit_options : JITOptions or dict, optional
    How the driver compiles PTX when it loads it.

Returns
-------
ObjectCode
    The code. It is loaded when it is first used.

Raises
------
TypeError
    If the code is neither bytes nor a path.)");
}

void bind_factories(nb::class_<PyObjectCode>& type) {
#define CUPRUM_FACTORY(code_type, suffix)                                                          \
    bind_factory<CodeType::code_type>(type, "from_" suffix,                                        \
                                      "def from_" suffix                                           \
                                      "(module: bytes | str | os.PathLike, *, name: str = \"\", "  \
                                      "symbol_mapping: dict | None = None, jit_options: "          \
                                      "cuprum.JITOptions | dict | None = None) -> ObjectCode")
    CUPRUM_FACTORY(Cubin, "cubin");
    CUPRUM_FACTORY(Ptx, "ptx");
    CUPRUM_FACTORY(LtoIr, "ltoir");
    CUPRUM_FACTORY(Fatbin, "fatbin");
    CUPRUM_FACTORY(Object, "object");
    CUPRUM_FACTORY(Library, "library");
#undef CUPRUM_FACTORY
}

template <Buffer (ObjectCode::*Get)(std::string_view) const>
nb::object get_variable(nb::handle self, nb::handle name) {
    const auto& code = nb::cast<const PyObjectCode&>(self);
    const std::string wanted = text_argument(name, "name");
    auto buffer = [&] {
        const nb::gil_scoped_release unlocked;
        return std::invoke(Get, code, wanted);
    }();
    return make<PyBuffer>(std::move(buffer), nb::object(), nb::borrow(self));
}

void bind_variables(nb::class_<PyObjectCode>& type) {
    type.def("get_global", get_variable<&ObjectCode::get_global>, "name"_a.none(),
             nb::sig("def get_global(self, name: str | bytes) -> Buffer"),
             R"(Return a ``__device__`` or ``__constant__`` variable as a buffer.

It is the memory that the variable has in the current context (the current device's, if none is
current). The buffer keeps the code loaded.

Parameters
----------
name : str or bytes
    The name of the variable.

Returns
-------
Buffer
    The memory of the variable. It keeps the code loaded.

Raises
------
ValueError
    If there is no such variable.)");
    type.def("get_managed", get_variable<&ObjectCode::get_managed>, "name"_a.none(),
             nb::sig("def get_managed(self, name: str | bytes) -> Buffer"),
             R"(Return a ``__managed__`` variable, which all contexts share, as a buffer.

Parameters
----------
name : str or bytes
    The name of the variable.

Returns
-------
Buffer
    The memory of the variable. It keeps the code loaded.

Raises
------
ValueError
    If there is no such variable.)");
    type.def(
        "get_module",
        [](const PyObjectCode& self) {
            leave_loaded_if_given_away(self);
            const nb::gil_scoped_release unlocked;
            return reinterpret_cast<std::uintptr_t>(self.get_module());
        },
        R"(Return the code as a ``CUmodule`` of the current context, as an int, for interfaces that take one. It belongs to this object.

Returns
-------
int
    The driver's ``CUmodule``.

Raises
------
ClosedError
    If the code is closed.
CUDAError
    If the driver cannot load the code. The text has the driver's log.)");
}

SymbolMapping mapping_argument(nb::handle symbols) {
    SymbolMapping mapping;
    if (symbols.is_none()) {
        return mapping;
    }
    if (PyMapping_Check(symbols.ptr()) == 0 || !nb::hasattr(symbols, "items")) {
        raise_error(PyExc_TypeError,
                    "symbol_mapping must be a dict or None, got " + type_label(symbols));
    }
    for (nb::handle item : symbols.attr("items")()) {
        mapping[text_argument(nb::object(item[0]), "a name in symbol_mapping")] =
            text_argument(nb::object(item[1]), "a symbol in symbol_mapping");
    }
    return mapping;
}

nb::object from_any(CodeType type, nb::handle code, nb::handle name, nb::handle symbols,
                    nb::handle jit) {
    JITOptions how;
    if (const nb::object given = options_argument(jit, "JITOptions"); given.is_valid()) {
        how = jit_options(given);
    }
    std::string label = name.is_none() ? std::string() : text_argument(name, "name");
    SymbolMapping mapping = mapping_argument(symbols);
    if (PyUnicode_Check(code.ptr()) != 0 || nb::hasattr(code, "__fspath__")) {
        return make<PyObjectCode>(ObjectCode::from_file(type, path_argument(code, "module"),
                                                        std::move(label), std::move(mapping), how));
    }
    if (PyBytes_Check(code.ptr()) == 0 && PyByteArray_Check(code.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "module must be bytes (the code) or str or a path (of a file), got " +
                        type_label(code));
    }
    const HostMemory memory(code, HostMemory::Access::Read, "module");
    const auto* begin = static_cast<const std::byte*>(memory.data());
    return make<PyObjectCode>(ObjectCode::from_bytes(type, std::span(begin, memory.size()),
                                                     std::move(label), std::move(mapping), how));
}

nb::object code_of(const PyObjectCode& self) {
    if (!self.path().empty()) {
        return path_object(self.path());
    }
    const auto code = self.code();
    return nb::bytes(code.data(), code.size());
}

nb::dict symbols_of(const PyObjectCode& self) {
    nb::dict mapping;
    for (const auto& [name, symbol] : self.symbol_mapping()) {
        mapping[name.c_str()] = symbol;
    }
    return mapping;
}

/// Returns the JIT options that are set, for JITOptions(**dict); None if there are none.
nb::object jit_options_of(const PyObjectCode& self) {
    nb::dict set;
    for_each_jit_option(self.jit_options(), [&set](const char* name, const auto& option) {
        if (option.has_value()) {
            set[name] = *option;
        }
    });
    if (set.empty()) {
        return nb::none();
    }
    return set;
}

nb::object get_kernel(const PyObjectCode& self, nb::handle name) {
    Py_ssize_t size = 0;
    if (PyUnicode_CheckExact(name.ptr()) != 0) [[likely]] {
        if (const char* const text = PyUnicode_AsUTF8AndSize(name.ptr(), &size)) {
            if (auto known = detail::Access::known_kernel(
                    self, std::string_view(text, static_cast<std::size_t>(size)))) {
                return make<PyKernel>(*std::move(known));
            }
        } else {
            throw nb::python_error();
        }
    }
    const std::string wanted = text_argument(name, "name");
    auto kernel = [&] {
        const nb::gil_scoped_release unlocked;
        return self.get_kernel(wanted);
    }();
    return make<PyKernel>(std::move(kernel));
}

} // namespace

} // namespace cuprum::python
