// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Measures the least time that a Python package can take. It runs in the same process as the
// package, in turns with it and on its objects, because the cost of a call depends on what else the
// process does.
//
// There are two lower bounds. `time` makes bare driver calls from C++. The methods make the same
// calls from Python, with the same statements as for the package. They do the minimum: they pass
// arguments and convert numbers, but create no object, check no type and keep no context.

#include "operations.hpp"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace {

struct Floor {
    PyObject head;
    floors::Objects objects;
    CUdeviceptr memory; // allocated last
    CUevent event;      // created last
    CUstream stream;
};

Floor& floor_in(PyObject* self) {
    return *reinterpret_cast<Floor*>(self);
}

/// Returns an integer argument.
long long number(PyObject* const* values, Py_ssize_t index) {
    return PyLong_AsLongLong(values[index]);
}

using Fast = PyObject*(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

PyObject* allocate(PyObject* self, PyObject* const* values, Py_ssize_t, PyObject*) {
    static_cast<void>(number(values, 0));
    floor_in(self).memory = floors::allocate(floor_in(self).objects);
    return Py_NewRef(self);
}

PyObject* close(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
    floors::free(floor_in(self).objects, floor_in(self).memory);
    Py_RETURN_NONE;
}

PyObject* copy_to(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
    floors::copy(floor_in(self).objects);
    return Py_NewRef(self);
}

PyObject* fill(PyObject* self, PyObject* const* values, Py_ssize_t, PyObject*) {
    floors::fill(floor_in(self).objects, static_cast<unsigned char>(number(values, 0)));
    Py_RETURN_NONE;
}

PyObject* launch_empty(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
    floors::launch_empty(floor_in(self).objects);
    Py_RETURN_NONE;
}

PyObject* launch_three(PyObject* self, PyObject* const* values, Py_ssize_t, PyObject*) {
    constexpr Py_ssize_t last = 5;
    floors::launch_three(floor_in(self).objects, 2, number(values, last));
    Py_RETURN_NONE;
}

PyObject* launch_sixteen(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
    floors::launch_sixteen(floor_in(self).objects);
    Py_RETURN_NONE;
}

PyObject* create_event(PyObject* self, PyObject*) {
    floor_in(self).event = floors::create_event();
    return Py_NewRef(self);
}

PyObject* close_event(PyObject* self, PyObject*) {
    floors::destroy(floor_in(self).event);
    Py_RETURN_NONE;
}

PyObject* create_texture(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) {
    floors::create_texture();
    Py_RETURN_NONE;
}

PyObject* record(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
    floors::record(floor_in(self).objects);
    Py_RETURN_NONE;
}

PyObject* is_done(PyObject* self, void*) {
    return PyBool_FromLong(floors::is_done(floor_in(self).objects) ? 1 : 0);
}

PyObject* create_stream(PyObject* self, PyObject*) {
    floor_in(self).stream = floors::create_stream();
    return Py_NewRef(self);
}

PyObject* close_stream(PyObject* self, PyObject*) {
    floors::destroy(floor_in(self).stream);
    Py_RETURN_NONE;
}

PyObject* sync(PyObject* self, PyObject*) {
    floors::settle(floor_in(self).objects);
    Py_RETURN_NONE;
}

PyObject* renew(PyObject* self, PyObject*) {
    floors::renew_stream(floor_in(self).objects);
    Py_RETURN_NONE;
}

PyObject* set_current(PyObject* self, PyObject*) {
    floors::set_current(floor_in(self).objects);
    Py_RETURN_NONE;
}

template <void (*Use)(const floors::Objects&)>
PyObject* use(PyObject* self, PyObject* const*, Py_ssize_t, PyObject*) {
    Use(floor_in(self).objects);
    Py_RETURN_NONE;
}

/// Does nothing. For operations that make no driver call.
PyObject* nothing(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) {
    Py_RETURN_NONE;
}

/// Makes one default stream wait for another and ignores the arguments. A view that orders streams
/// makes the same driver calls.
PyObject* order(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) {
    floors::order_default_streams();
    Py_RETURN_NONE;
}

PyObject* time(PyObject* self, PyObject* arguments) {
    const char* operation = nullptr;
    int loops = 0;
    if (PyArg_ParseTuple(arguments, "si", &operation, &loops) == 0) {
        return nullptr;
    }
    const double result = floors::time_of(operation, loops, floor_in(self).objects);
    floors::settle(floor_in(self).objects);
    return PyFloat_FromDouble(result);
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject*) {
    unsigned long long given[floors::GIVEN_COUNT];
    if (PyArg_ParseTuple(arguments, "KKKKKKK", &given[0], &given[1], &given[2], &given[3],
                         &given[4], &given[5], &given[6]) == 0) {
        return nullptr;
    }
    PyObject* const self = type->tp_alloc(type, 0);
    if (self == nullptr) {
        return nullptr;
    }
    floors::Objects& objects = floor_in(self).objects;
    objects.context = reinterpret_cast<CUcontext>(given[0]);
    objects.pool = reinterpret_cast<CUmemoryPool>(given[1]);
    objects.empty = reinterpret_cast<CUkernel>(given[2]);
    objects.three = reinterpret_cast<CUkernel>(given[3]);
    objects.sixteen = reinterpret_cast<CUkernel>(given[4]);
    objects.source = given[5];
    objects.target = given[6];
    floors::complete(objects);
    return self;
}

PyCFunction fast(Fast* function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

constexpr int FAST = METH_FASTCALL | METH_KEYWORDS;

PyMethodDef methods[] = {
    {"allocate", fast(allocate), FAST, nullptr},
    {"close", fast(close), FAST, nullptr},
    {"copy_to", fast(copy_to), FAST, nullptr},
    {"fill", fast(fill), FAST, nullptr},
    {"launch_empty", fast(launch_empty), FAST, nullptr},
    {"launch_three", fast(launch_three), FAST, nullptr},
    {"launch_sixteen", fast(launch_sixteen), FAST, nullptr},
    {"create_event", create_event, METH_NOARGS, nullptr},
    {"close_event", close_event, METH_NOARGS, nullptr},
    {"create_texture", fast(create_texture), FAST, nullptr},
    {"record", fast(record), FAST, nullptr},
    {"create_stream", create_stream, METH_NOARGS, nullptr},
    {"close_stream", close_stream, METH_NOARGS, nullptr},
    {"sync", sync, METH_NOARGS, nullptr},
    {"renew", renew, METH_NOARGS, nullptr},
    {"set_current", set_current, METH_NOARGS, nullptr},
    {"launch_graph", fast(use<floors::launch_graph>), FAST, nullptr},
    {"add_kernel_node", fast(use<floors::add_kernel_node>), FAST, nullptr},
    {"update_kernel_node", fast(use<floors::update_kernel_node>), FAST, nullptr},
    {"capture_graph", fast(use<floors::capture_graph>), FAST, nullptr},
    {"encode_tensor_map", fast(use<floors::encode_tensor_map>), FAST, nullptr},
    {"nothing", fast(nothing), FAST, nullptr},
    {"order", fast(order), FAST, nullptr},
    {"time", time, METH_VARARGS,
     "Return nanoseconds a bare driver call, negative if there is none."},
    {},
};

PyGetSetDef properties[] = {{"is_done", is_done, nullptr, nullptr, nullptr}, {}};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, nullptr},
};

PyType_Spec specification{"driver_floor.Floor", sizeof(Floor), 0, Py_TPFLAGS_DEFAULT, slots};

int fill_module(PyObject* module) {
    PyObject* const type = PyType_FromSpec(&specification);
    return type == nullptr ? -1 : PyModule_AddObject(module, "Floor", type);
}

PyModuleDef_Slot module_slots[] = {{Py_mod_exec, reinterpret_cast<void*>(fill_module)},
                                   {0, nullptr}};

PyModuleDef definition{PyModuleDef_HEAD_INIT, "driver_floor", nullptr, 0,      nullptr,
                       module_slots,          nullptr,        nullptr, nullptr};

} // namespace

PyMODINIT_FUNC PyInit_driver_floor() {
    return PyModuleDef_Init(&definition);
}
