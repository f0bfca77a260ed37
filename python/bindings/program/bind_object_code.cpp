// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/kernel_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/host_memory.hpp"
#include "program/code_type.hpp"
#include "program/program_objects.hpp"
#include "program/program_options.hpp"
#include "support/class.hpp"
#include "support/compatibility.hpp"
#include "support/display.hpp"

#include <cuprum/buffer.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/detail/leave_loaded.hpp>
#include <cuprum/object_code.hpp>

#include <nanobind/stl/map.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstring>

namespace cuprum::python {

namespace {

constexpr std::array CODE_TYPES{CodeType::Ptx,    CodeType::Cubin,  CodeType::LtoIr,
                                CodeType::Fatbin, CodeType::Object, CodeType::Library};

void leave_loaded_if_given_away(const PyObjectCode& code) {
    if (compatibility::leaves_code_loaded()) {
        detail::leave_loaded(code);
    }
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

[[nodiscard]] nb::object from_any(CodeType type, nb::handle code, nb::handle name,
                                  nb::handle symbols, nb::handle jit) {
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

template <CodeType Type>
void bind_factory(Class<PyObjectCode>& type, const char* method) {
    type.static_method(method,
                       [](nb::handle code, nb::handle name, nb::handle symbols, nb::handle jit) {
                           return from_any(Type, code, name, symbols, jit);
                       });
}

void bind_factories(Class<PyObjectCode>& type) {
    bind_factory<CodeType::Cubin>(type, "from_cubin");
    bind_factory<CodeType::Ptx>(type, "from_ptx");
    bind_factory<CodeType::LtoIr>(type, "from_ltoir");
    bind_factory<CodeType::Fatbin>(type, "from_fatbin");
    bind_factory<CodeType::Object>(type, "from_object");
    bind_factory<CodeType::Library>(type, "from_library");
}

template <Buffer (ObjectCode::*Get)(std::string_view) const>
nb::object get_variable(nb::handle self, nb::handle name) {
    const auto& code = nb::cast<const PyObjectCode&>(self);
    const std::string wanted = text_argument(name, "name");
    auto buffer = without_gil([&] { return std::invoke(Get, code, wanted); });
    return make<PyBuffer>(std::move(buffer), nb::object(), nb::borrow(self));
}

void bind_variables(Class<PyObjectCode>& type) {
    type.method<get_variable<&ObjectCode::get_global>>("get_global");
    type.method<get_variable<&ObjectCode::get_managed>>("get_managed");
    type.method("get_module", [](const PyObjectCode& self) {
        leave_loaded_if_given_away(self);
        const nb::gil_scoped_release unlocked;
        return reinterpret_cast<std::uintptr_t>(self.get_module());
    });
}

[[nodiscard]] nb::object code_of(const PyObjectCode& self) {
    if (!self.path().empty()) {
        return path_object(self.path());
    }
    const auto code = self.code();
    return nb::bytes(code.data(), code.size());
}

[[nodiscard]] nb::dict symbols_of(const PyObjectCode& self) {
    nb::dict mapping;
    for (const auto& [name, symbol] : self.symbol_mapping()) {
        mapping[name.c_str()] = symbol;
    }
    return mapping;
}

/// Returns the JIT options that are set, for JITOptions(**dict); None if there are none.
[[nodiscard]] nb::object jit_options_of(const PyObjectCode& self) {
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

[[nodiscard]] nb::object get_kernel(const PyObjectCode& self, nb::handle name) {
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
    auto kernel = without_gil([&] { return self.get_kernel(wanted); });
    return make<PyKernel>(std::move(kernel));
}

} // namespace

void bind_object_code(nb::module_& module) {
    Class<PyObjectCode> type(module, "ObjectCode", nb::is_weak_referenceable());
    type.refuse_construction("ObjectCode objects cannot be instantiated directly. Use "
                             "Program.compile() or ObjectCode.from_*()");
    bind_factories(type);
    type.property("code", code_of);
    type.property("code_type", [](const PyObjectCode& self) {
        return std::string(to_string(self.code_type()));
    });
    type.property("name", [](const PyObjectCode& self) { return self.name(); });
    type.property("symbol_mapping", symbols_of);
    type.property("handle", [](const PyObjectCode& self) {
        leave_loaded_if_given_away(self);
        const nb::gil_scoped_release unlocked;
        return reinterpret_cast<std::uintptr_t>(self.handle());
    });
    type.method<get_kernel>("get_kernel", HOT);
    type.property("kernel_names", &PyObjectCode::kernel_names, RELEASES_GIL);
    bind_variables(type);
    type.property("is_closed", &PyObjectCode::is_closed);
    type.method<&PyObjectCode::drop>("close");
    type.method("__reduce__", [](const PyObjectCode& self) {
        return nb::make_tuple(nb::module_::import_("cuprum._pickling").attr("restore_object_code"),
                              nb::make_tuple(nb::cast(to_string(self.code_type())), code_of(self),
                                             self.name(), symbols_of(self), jit_options_of(self)));
    });
    type.method("__eq__", [](const PyObjectCode& self, const PyObjectCode& other) {
        return detail::Access::state(self) == detail::Access::state(other);
    });
    type.method("__hash__", [](const PyObjectCode& self) {
        return std::hash<const void*>{}(detail::Access::state(self).get());
    });
    type.method("__repr__", [](const PyObjectCode& self) -> std::string {
        if (self.is_closed()) {
            return "<ObjectCode closed>";
        }
        return "<ObjectCode name=" + repr_text(nb::cast(self.name())) + " code_type='" +
               std::string(to_string(self.code_type())) +
               "' size=" + std::to_string(self.code().size()) + ">";
    });
    type.method("_repr_html_", [](nb::handle self) { return html_of(self, "object_code"); });
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

} // namespace cuprum::python
