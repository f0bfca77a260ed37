// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/kernel_arguments.hpp"

#include "arrays/numpy_scalars.hpp"
#include "arrays/tensor_map.hpp"
#include "arrays/view_sources.hpp"
#include "graph/graph_objects.hpp"
#include "memory/buffer_objects.hpp"
#include "memory/host_memory.hpp"
#include "support/arguments.hpp"
#include "support/instances.hpp"
#include "support/python_int.hpp"
#include "support/python_objects.hpp"
#include "texture/texture_objects.hpp"

#include <cuprum/detail/access.hpp>
#include <cuprum/detail/launch_packed.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::python {

namespace {

/// Where one value goes.
struct Slot {
    std::byte* data;
    std::size_t size;
    ParameterKind kind;
    std::size_t index;    // for messages
    const Stream* stream; // of the launch; null for a node of a graph
};

std::string where(const Slot& slot) {
    return "argument at index " + std::to_string(slot.index);
}

[[noreturn]] void raise_count(const Kernel& kernel, const std::vector<ParameterInfo>& plan,
                              std::span<PyObject* const> values) {
    std::string text = detail::wrong_count_text(kernel.name(), plan, values.size());
    if (values.size() == 1 && (PyTuple_Check(values[0]) != 0 || PyList_Check(values[0]) != 0)) {
        text += "; pass the arguments one by one, not as a " + type_label(values[0]);
    }
    raise_error(PyExc_TypeError, text);
}

[[noreturn]] void raise_size(const Slot& slot, nb::handle value, std::size_t size,
                             const char* advice = "") {
    raise_error(PyExc_TypeError, where(slot) + " has " + std::to_string(size) + " bytes (" +
                                     type_label(value) + "), the kernel takes " +
                                     std::to_string(slot.size) + " there" + advice);
}

[[noreturn]] void raise_integer_size(const Slot& slot, nb::handle value) {
    raise_error(PyExc_TypeError,
                where(slot) + " is an integer (" + type_label(value) + "), the kernel takes " +
                    std::to_string(slot.size) +
                    " bytes there; pass a ctypes structure, a numpy scalar or bytes of that size");
}

[[noreturn]] void raise_range(const Slot& slot, nb::handle value) {
    const std::size_t bits = 8 * slot.size;
    raise_error(PyExc_OverflowError, where(slot) + " does not fit: " + repr_text(value) +
                                         " is not from -2**" + std::to_string(bits - 1) +
                                         " to 2**" + std::to_string(bits) +
                                         " - 1, the kernel takes " + std::to_string(slot.size) +
                                         (slot.size == 1 ? " byte there" : " bytes there"));
}

template <typename T>
void put(const Slot& slot, T value) {
    std::memcpy(slot.data, &value, sizeof(value));
}

/// Returns what a kernel takes, for messages: "a float", "a pointer", "a 4-byte integer".
std::string expected_text(const Slot& slot) {
    switch (slot.kind) {
    case ParameterKind::Float:
        return slot.size == sizeof(float) ? "a float" : "a double";
    case ParameterKind::Pointer:
        return "a pointer";
    default:
        return (slot.size == 8 ? "an " : "a ") + std::to_string(slot.size) + "-byte integer";
    }
}

/// Stores a number that the parameter may take as signed or unsigned: only its bits are known.
template <typename Signed, typename Unsigned>
void put_checked(const Slot& slot, std::int64_t number, nb::handle value) {
    if (number < std::numeric_limits<Signed>::min() ||
        number > static_cast<std::int64_t>(std::numeric_limits<Unsigned>::max())) [[unlikely]] {
        raise_range(slot, value);
    }
    put(slot, static_cast<Unsigned>(number));
}

float narrow(double number, const Slot& slot) {
    const auto narrowed = static_cast<float>(number);
    if (std::isinf(narrowed) && !std::isinf(number)) [[unlikely]] {
        raise_error(PyExc_OverflowError, where(slot) +
                                             " does not fit: " + repr_text(nb::float_(number)) +
                                             " is too large for the kernel's 4-byte float");
    }
    return narrowed;
}

/// Stores a number as a float or double.
void put_floating(double number, const Slot& slot) {
    if (slot.size == sizeof(double)) {
        put(slot, number);
    } else {
        put(slot, narrow(number, slot));
    }
}

void store_integer(std::int64_t number, const Slot& slot, nb::handle value) {
    if (slot.kind == ParameterKind::Float) [[unlikely]] {
        return put_floating(static_cast<double>(number), slot);
    }
    switch (slot.size) {
    case sizeof(std::int64_t):
        return put(slot, number);
    case sizeof(std::int32_t):
        return put_checked<std::int32_t, std::uint32_t>(slot, number, value);
    case sizeof(std::int16_t):
        return put_checked<std::int16_t, std::uint16_t>(slot, number, value);
    case sizeof(std::int8_t):
        return put_checked<std::int8_t, std::uint8_t>(slot, number, value);
    default:
        raise_integer_size(slot, value);
    }
}

void store_unsigned(std::uint64_t number, const Slot& slot, nb::handle value) {
    if (slot.kind == ParameterKind::Float) [[unlikely]] {
        return put_floating(static_cast<double>(number), slot);
    }
    if (slot.size == sizeof(number)) {
        return put(slot, number);
    }
    if (number > std::numeric_limits<std::uint32_t>::max()) {
        raise_range(slot, value);
    }
    store_integer(static_cast<std::int64_t>(number), slot, value);
}

void store_int(PyObject* value, const Slot& slot) {
    std::int64_t read = 0;
    if (read_short_int(value, read)) [[likely]] {
        return store_integer(read, slot, value);
    }
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) {
        return store_integer(number, slot, value);
    }
    if (slot.kind == ParameterKind::Float) {
        const double converted = PyLong_AsDouble(value);
        if (converted == -1.0 && PyErr_Occurred() != nullptr) {
            throw nb::python_error(); // an OverflowError of Python's own
        }
        return put_floating(converted, slot);
    }
    if (slot.size != sizeof(std::uint64_t)) {
        slot.size == sizeof(std::uint32_t) || slot.size == sizeof(std::uint16_t) ||
                slot.size == sizeof(std::uint8_t)
            ? raise_range(slot, value)
            : raise_integer_size(slot, value);
    }
    const unsigned long long wide = overflow > 0 ? PyLong_AsUnsignedLongLong(value) : 0;
    if (overflow < 0 || PyErr_Occurred() != nullptr) {
        clear_error(PyExc_OverflowError);
        raise_range(slot, value);
    }
    put(slot, static_cast<std::uint64_t>(wide));
}

/// Refuses a float for a parameter whose code says that it is something else.
[[noreturn, gnu::cold]] void raise_float(PyObject* value, const Slot& slot) {
    const bool is_wide = slot.size == sizeof(double);
    const std::string scalar = is_wide ? "numpy.float64" : "numpy.float32";
    raise_error(PyExc_TypeError,
                where(slot) + " is the float " + repr_text(value) + ", but the kernel takes " +
                    expected_text(slot) + " there; pass " +
                    (slot.kind == ParameterKind::Pointer ? "a Buffer or an address"
                     : is_wide ? "a Buffer or an array for a pointer, an int, as in int(value)"
                               : "an int, as in int(value)") +
                    (is_wide || slot.size == sizeof(float)
                         ? ", or " + scalar + "(value) to pass the bits of a float"
                         : ""));
}

void store_float(PyObject* value, const Slot& slot) {
    if (slot.kind == ParameterKind::Integer || slot.kind == ParameterKind::Pointer) [[unlikely]] {
        raise_float(value, slot);
    }
    const double number = PyFloat_AS_DOUBLE(value);
    if (slot.size == sizeof(double)) {
        return put(slot, number);
    }
    if (slot.size == sizeof(float)) {
        return put(slot, narrow(number, slot));
    }
    raise_error(PyExc_TypeError, where(slot) + " is a float, the kernel takes " +
                                     std::to_string(slot.size) +
                                     " bytes there, not 4 or 8; pass a numpy scalar of the right "
                                     "type, such as numpy.float16");
}

void store_complex(PyObject* value, const Slot& slot) {
    const Py_complex number = PyComplex_AsCComplex(value);
    if (slot.size == 2 * sizeof(double)) {
        return put(slot, number);
    }
    if (slot.size == 2 * sizeof(float)) {
        const float parts[] = {narrow(number.real, slot), narrow(number.imag, slot)};
        std::memcpy(slot.data, parts, sizeof(parts));
        return;
    }
    raise_size(slot, value, 2 * sizeof(double));
}

void store_address(const PyBuffer& buffer, const Slot& slot, PyObject* value) {
    const CUdeviceptr address = buffer.handle();
    if (slot.size != sizeof(address)) [[unlikely]] {
        raise_size(slot, value, sizeof(address), "; a Buffer stands for a pointer");
    }
    put(slot, address);
}

template <typename T>
T load(const void* data) {
    T value{};
    std::memcpy(&value, data, sizeof(value));
    return value;
}

[[gnu::hot]] void store_numpy(PyObject* value, const NumpyScalar& scalar, const Slot& slot) {
    const void* data = scalar.data(value);
    switch (scalar.kind) {
    case NumpyScalar::Kind::Signed:
        switch (scalar.size) {
        case 1:
            return store_integer(load<std::int8_t>(data), slot, value);
        case 2:
            return store_integer(load<std::int16_t>(data), slot, value);
        case 4:
            return store_integer(load<std::int32_t>(data), slot, value);
        default:
            return store_integer(load<std::int64_t>(data), slot, value);
        }
    case NumpyScalar::Kind::Unsigned:
        switch (scalar.size) {
        case 1:
            return store_unsigned(load<std::uint8_t>(data), slot, value);
        case 2:
            return store_unsigned(load<std::uint16_t>(data), slot, value);
        case 4:
            return store_unsigned(load<std::uint32_t>(data), slot, value);
        default:
            return store_unsigned(load<std::uint64_t>(data), slot, value);
        }
    case NumpyScalar::Kind::Exact:
        if (scalar.size != slot.size) [[unlikely]] {
            const bool is_float = type_label(value).starts_with("float");
            raise_size(slot, value, scalar.size,
                       is_float ? "; pass float(value) to convert it" : "");
        }
        std::memcpy(slot.data, data, scalar.size);
        return;
    case NumpyScalar::Kind::None:
        break;
    }
}

/// Copies the bytes of anything else that has them: ctypes objects, numpy records, bytes.
void store_bytes(PyObject* value, const Slot& slot) {
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_CONTIG_RO | PyBUF_FORMAT) != 0) {
        clear_layout_error();
        raise_error(PyExc_BufferError, where(slot) + " (" + type_label(value) +
                                           ") does not give its bytes in one piece; pass "
                                           "bytes(...) of it");
    }
    const auto size = static_cast<std::size_t>(view.len);
    const bool is_fitting = size == slot.size;
    if (is_fitting) {
        std::memcpy(slot.data, view.buf, size);
    }
    PyBuffer_Release(&view);
    if (!is_fitting) {
        raise_size(slot, value, size);
    }
}

void put_address(std::uint64_t address, const Slot& slot, PyObject* value) {
    if (slot.size != sizeof(address)) {
        raise_size(slot, value, sizeof(address), "; it stands for an address or handle");
    }
    put(slot, address);
}

bool has_attribute(PyObject* value, const char* name) {
    PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(value));
    return PyObject_HasAttrString(type, name) != 0 || PyObject_HasAttrString(value, name) != 0;
}

/// Stores the address of an array of any library, made usable in the launch's stream. Returns false
/// for other objects, and for numpy arrays, whose memory devices cannot reach.
bool store_array(PyObject* value, const Slot& slot) {
    // NOTE: the handle is read only for what needs it: others can capture the stream from then on.
    const auto consumer = [&] {
        return slot.stream == nullptr
                   ? ConsumerStream{ConsumerStream::Kind::NoOrder, 0}
                   : ConsumerStream{ConsumerStream::Kind::Handle,
                                    reinterpret_cast<std::uintptr_t>(slot.stream->handle())};
    };
    StridedMemoryView made;
    const StridedMemoryView* view = get_if<StridedMemoryView>(value);
    if (view == nullptr) {
        if (is_numpy_array(value) || (!has_attribute(value, "__cuda_array_interface__") &&
                                      !has_attribute(value, "__dlpack__"))) {
            return false;
        }
        view_any(made, value, consumer());
        view = &made;
    } else if (view->is_ordered) {
        // It was made for another stream's work, which may not be done.
        consumer().wait_for(view->ordered_stream);
    }
    if (!view->is_device_accessible) {
        raise_error(PyExc_TypeError, where(slot) + " is an array in host memory (" +
                                         type_label(value) +
                                         "); copy it to a Buffer and pass that");
    }
    put_address(view->pointer, slot, value);
    return true;
}

/// Stores the number of a driver object that kernels take as a number: objects of the driver's
/// bindings are the number, ours have a handle.
/// @throws ClosedError for a texture or surface that is closed.
bool store_handle(PyObject* value, const Slot& slot) {
    static constexpr std::array<std::string_view, 4> NUMBERS{
        "CUdeviceptr", "CUgraphConditionalHandle", "CUsurfObject", "CUtexObject"};
    if (const auto* const texture = get_if<PyTextureObject>(value)) {
        put_address(texture->handle(), slot, value);
        return true;
    }
    if (const auto* const surface = get_if<PySurfaceObject>(value)) {
        put_address(surface->handle(), slot, value);
        return true;
    }
    if (const auto* const condition = get_if<GraphCondition>(value)) {
        put_address(condition->handle(), slot, value);
        return true;
    }
    if (const auto* const allocation = get_if<PyNodeOf<AllocNode>>(value)) {
        put_address(allocation->as<AllocNode>().dptr(), slot, value);
        return true;
    }
    const std::string label = type_label(value);
    if (std::find(NUMBERS.begin(), NUMBERS.end(), label) != NUMBERS.end()) {
        put_address(address_argument(value, "the argument"), slot, value);
        return true;
    }
    return false;
}

/// Stores the 128 bytes of a tensor map, ours or of the driver's bindings.
bool store_tensor_map(PyObject* value, const Slot& slot) {
    constexpr std::size_t TENSOR_MAP_BYTES = TensorMapDescriptor::SIZE_BYTES;
    const auto* const map = get_if<PyTensorMap>(value);
    if (map == nullptr && type_label(value) != "CUtensorMap") {
        return false;
    }
    if (slot.size != TENSOR_MAP_BYTES) {
        raise_size(slot, value, TENSOR_MAP_BYTES);
    }
    if (map != nullptr) {
        std::memcpy(slot.data, map->core.handle(), TENSOR_MAP_BYTES);
        return true;
    }
    const nb::object address = nb::handle(value).attr("getPtr")();
    std::memcpy(
        slot.data,
        reinterpret_cast<const void*>(address_argument(address, "the tensor map's address")),
        TENSOR_MAP_BYTES);
    return true;
}

/// Stores values of other types, and of subclasses of the plain ones.
void store_other(PyObject* value, const Slot& slot) {
    if (const PyBuffer* buffer = get_if<PyBuffer>(value)) {
        return store_address(*buffer, slot, value);
    }
    if (PyLong_Check(value) != 0) {
        return store_int(value, slot);
    }
    if (const NumpyScalar scalar = note_numpy_scalar(value);
        scalar.kind != NumpyScalar::Kind::None) {
        return store_numpy(value, scalar, slot);
    }
    if (PyFloat_Check(value) != 0) {
        return store_float(value, slot);
    }
    if (PyComplex_Check(value) != 0) {
        return store_complex(value, slot);
    }
    if (store_tensor_map(value, slot) || store_handle(value, slot) || store_array(value, slot)) {
        return;
    }
    if (is_numpy_array(value)) {
        raise_error(PyExc_TypeError, where(slot) +
                                         " is a numpy array in host memory; copy it to a Buffer "
                                         "and pass that, or pass bytes(array) for a value");
    }
    if (PyObject_CheckBuffer(value) != 0) {
        return store_bytes(value, slot);
    }
    if (PyIndex_Check(value) != 0) {
        const nb::object number = nb::steal(PyNumber_Index(value));
        if (!number.is_valid()) {
            throw nb::python_error();
        }
        return store_int(number.ptr(), slot);
    }
    if (value == Py_None) {
        raise_error(PyExc_TypeError,
                    where(slot) + " is of unsupported type None; pass 0 for a null pointer");
    }
    raise_error(PyExc_TypeError,
                where(slot) + " is of unsupported type " + type_label(value) +
                    "; pass a Buffer, an array in device memory, a TextureObject, a SurfaceObject, "
                    "a TensorMapDescriptor, a number, a numpy scalar, a ctypes object or bytes");
}

/// Returns a layout for a kernel whose parameters are unknown: each value has its own size.
[[nodiscard]] std::vector<ParameterInfo> natural_plan(std::span<PyObject* const> values) {
    constexpr std::size_t alignment = 16;
    std::vector<ParameterInfo> plan;
    std::size_t offset = 0;
    for (PyObject* const value : values) {
        std::size_t size = sizeof(CUdeviceptr);
        if (PyBool_Check(value) != 0) {
            size = sizeof(bool);
        } else if (PyComplex_Check(value) != 0) {
            size = 2 * sizeof(double);
        } else if (const NumpyScalar scalar = note_numpy_scalar(value);
                   scalar.kind != NumpyScalar::Kind::None) {
            size = scalar.size;
        } else if (PyObject_CheckBuffer(value) != 0 && !is_numpy_array(value)) {
            Py_buffer view;
            if (PyObject_GetBuffer(value, &view, PyBUF_CONTIG_RO | PyBUF_FORMAT) != 0) {
                throw nb::python_error();
            }
            size = static_cast<std::size_t>(view.len);
            PyBuffer_Release(&view);
        }
        plan.push_back({.offset = offset, .size = size});
        offset += (size + alignment - 1) / alignment * alignment;
    }
    return plan;
}

void store(PyObject* value, const Slot& slot) {
    PyTypeObject* const type = Py_TYPE(value);
    if (type == TYPE<PyBuffer> && is_ready(value)) {
        return store_address(*payload<PyBuffer>(value), slot, value);
    }
    if (type == &PyLong_Type) {
        return store_int(value, slot);
    }
    if (type == &PyFloat_Type) {
        return store_float(value, slot);
    }
    if (const NumpyScalar scalar = known_numpy_scalar(type);
        scalar.kind != NumpyScalar::Kind::None) {
        return store_numpy(value, scalar, slot);
    }
    store_other(value, slot);
}

} // namespace

void KernelArguments::make_room(std::span<const ParameterInfo> parameters) {
    // The kernel's own layout is used, so the parameters cannot overlap and are aligned.
    const std::size_t bytes = parameters.back().offset + parameters.back().size;
    if (bytes > stack_bytes) [[unlikely]] {
        block_on_heap_ = std::make_unique<std::byte[]>(bytes);
        block_ = block_on_heap_.get();
    }
    if (parameters.size() > stack_count) [[unlikely]] {
        addresses_on_heap_ = std::make_unique<void*[]>(parameters.size());
        addresses_ = addresses_on_heap_.get();
    }
}

void KernelArguments::pack(std::span<const ParameterInfo> parameters,
                           std::span<PyObject* const> values, const Stream* stream) {
    if (parameters.empty()) {
        return;
    }
    make_room(parameters);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const ParameterInfo parameter = parameters[i];
        PyObject* const value = values[i];
        std::byte* const data = block_ + parameter.offset;
        addresses_[i] = data;
        // What most arguments are, without a call.
        std::int64_t number = 0;
        if (parameter.size == sizeof(number) && parameter.kind != ParameterKind::Float) {
            if (Py_TYPE(value) == &PyLong_Type && read_short_int(value, number)) {
                std::memcpy(data, &number, sizeof(number));
                continue;
            }
            if (Py_TYPE(value) == TYPE<PyBuffer> && is_ready(value)) {
                const CUdeviceptr address = payload<PyBuffer>(value)->handle();
                std::memcpy(data, &address, sizeof(address));
                continue;
            }
        }
        store(value, {data, parameter.size, parameter.kind, i, stream});
    }
}

KernelArguments::KernelArguments(const Kernel& kernel, std::span<PyObject* const> values,
                                 const Stream* stream) {
    const std::vector<ParameterInfo>* const parameters = detail::Access::plan(kernel);
    if (parameters == nullptr) [[unlikely]] {
        pack_unchecked(values, stream);
        return;
    }
    if (values.size() != parameters->size()) [[unlikely]] {
        raise_count(kernel, *parameters, values);
    }
    pack(*parameters, values, stream);
}

/// Packs for a kernel whose parameters the driver does not report.
void KernelArguments::pack_unchecked(std::span<PyObject* const> values, const Stream* stream) {
    pack(natural_plan(values), values, stream);
}

} // namespace cuprum::python
