// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/class_method.hpp"

#include <nanobind/nanobind.h>

namespace cuprum::python::binding {

namespace {

/// A class method, as it stands in the dictionary of its class.
struct ClassMethod {
    PyObject head;
    PyMethodDef* definition;
    PyObject* type;  // whose dictionary it stands in
    PyObject* bound; // the method of that class
};

ClassMethod& method_in(PyObject* self) {
    return *reinterpret_cast<ClassMethod*>(self);
}

/// Binds it to a class, or to the class of an object.
[[gnu::hot]] PyObject* bind(PyObject* self, PyObject* object, PyObject* type) {
    const ClassMethod& method = method_in(self);
    if (type == method.type) [[likely]] {
        return Py_NewRef(method.bound);
    }
    if (type == nullptr) {
        type = reinterpret_cast<PyObject*>(Py_TYPE(object));
    }
    return PyCFunction_New(method.definition, type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(method_in(self).type);
    Py_VISIT(method_in(self).bound);
    return 0;
}

int clear(PyObject* self) {
    Py_CLEAR(method_in(self).bound);
    Py_CLEAR(method_in(self).type);
    return 0;
}

void deallocate(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    static_cast<void>(clear(self));
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* name(PyObject* self, void* /*closure*/) {
    return PyUnicode_FromString(method_in(self).definition->ml_name);
}

PyObject* bound_attribute(PyObject* self, void* attribute) {
    return PyObject_GetAttrString(method_in(self).bound, static_cast<const char*>(attribute));
}

char documentation_name[] = "__doc__";
char signature_name[] = "__text_signature__";

PyGetSetDef properties[] = {
    {"__name__", name, nullptr, nullptr, nullptr},
    {"__doc__", bound_attribute, nullptr, nullptr, documentation_name},
    {"__text_signature__", bound_attribute, nullptr, nullptr, signature_name},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
    {Py_tp_getset, properties},
    {0, nullptr},
};

PyType_Spec specification{"cuprum._cuprum.class_method", sizeof(ClassMethod), 0,
                          static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                                                Py_TPFLAGS_DISALLOW_INSTANTIATION),
                          slots};

} // namespace

nb::object make_class_method(nb::handle type, PyMethodDef* definition) {
    static PyObject* const descriptor_type = PyType_FromSpec(&specification); // for good
    if (descriptor_type == nullptr) {
        throw nb::python_error();
    }
    nb::object bound = nb::steal(PyCFunction_New(definition, type.ptr()));
    auto* const made = reinterpret_cast<PyTypeObject*>(descriptor_type);
    nb::object self = nb::steal(made->tp_alloc(made, 0));
    if (!bound.is_valid() || !self.is_valid()) {
        throw nb::python_error();
    }
    ClassMethod& method = method_in(self.ptr());
    method.definition = definition;
    method.type = nb::borrow(type).release().ptr();
    method.bound = bound.release().ptr();
    return self;
}

} // namespace cuprum::python::binding
