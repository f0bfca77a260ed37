// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "arrays/torch_tensors.hpp"

#include "support/fast_paths.hpp"

#include <cuprum/dlpack.hpp>

#include <dlfcn.h>

#include <cstring>
#include <string_view>

namespace cuprum::python {

namespace {

/// Finds the functions in the library that the table comes from and those it depends on. Nothing is
/// loaded.
[[nodiscard]] bool find_functions(TorchTensors& torch) {
    Dl_info library{};
    if (dladdr(reinterpret_cast<const void*>(torch.table->tensor_from_object), &library) == 0) {
        return false;
    }
    void* const handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD); // never closed
    if (handle == nullptr) {
        return false;
    }
    bool are_all_there = true;
    const auto find = [&](auto& function, const char* name) {
        void* const found = dlsym(handle, name);
        std::memcpy(&function, &found, sizeof(found));
        are_all_there = are_all_there && found != nullptr;
    };
    find(torch.layout, "aoti_torch_get_layout");
    find(torch.device_type, "aoti_torch_get_device_type");
    find(torch.type, "aoti_torch_get_dtype");
    find(torch.device_index, "aoti_torch_get_device_index");
    find(torch.dimensions, "aoti_torch_get_dim");
    find(torch.sizes, "aoti_torch_get_sizes");
    find(torch.strides, "aoti_torch_get_strides");
    find(torch.data, "aoti_torch_get_data_ptr");
    return are_all_there;
}

/// Finds out where an object has its C++ tensor, which is one pointer, without following any: a
/// tensor of a few dimensions has its extents inside what it points to, and DLPack lent them.
/// Returns 0 if this object does not show it.
[[nodiscard]] std::size_t place_of_tensor(nb::handle object, const dlpack::Tensor& lent) noexcept {
    constexpr std::int32_t max_dimensions = 5; // more are somewhere else
    constexpr std::uintptr_t max_distance = 256;
    // Right behind the head; earlier versions have a word about ownership in between.
    constexpr std::array<std::size_t, 2> places{sizeof(PyObject), sizeof(PyObject) + sizeof(void*)};
    if (lent.ndim < 1 || lent.ndim > max_dimensions) {
        return 0;
    }
    std::size_t found = 0;
    for (const std::size_t place : places) {
        if (place + sizeof(void*) > static_cast<std::size_t>(Py_TYPE(object.ptr())->tp_basicsize)) {
            continue;
        }
        std::uintptr_t pointer = 0;
        std::memcpy(&pointer, reinterpret_cast<const char*>(object.ptr()) + place, sizeof(pointer));
        const auto shape = reinterpret_cast<std::uintptr_t>(lent.shape);
        if (pointer == 0 || pointer % alignof(void*) != 0 || shape <= pointer ||
            shape - pointer > max_distance) {
            continue;
        }
        if (found != 0) {
            return 0; // it could be either
        }
        found = place;
    }
    return found;
}

[[nodiscard, maybe_unused]] bool is_called(PyTypeObject* type, const char* module,
                                           std::string_view name) {
    const nb::handle object(reinterpret_cast<PyObject*>(type));
    const nb::object own_module = nb::getattr(object, "__module__", nb::none());
    const nb::object own_name = nb::getattr(object, "__name__", nb::none());
    return nb::isinstance<nb::str>(own_module) && nb::isinstance<nb::str>(own_name) &&
           std::string_view(nb::borrow<nb::str>(own_module).c_str()) == module &&
           std::string_view(nb::borrow<nb::str>(own_name).c_str()) == name;
}

[[nodiscard]] bool is_same(const dlpack::Tensor& left, const dlpack::Tensor& right) noexcept {
    return left.data == right.data && left.device.type == right.device.type &&
           left.device.id == right.device.id && left.ndim == right.ndim &&
           left.dtype == right.dtype && left.shape == right.shape &&
           left.strides == right.strides && left.byte_offset == right.byte_offset;
}

} // namespace

bool is_torch_type(PyTypeObject* type) {
#ifdef Py_GIL_DISABLED
    static_cast<void>(type);
    return false; // nothing would guard what is known
#else
    return is_called(type, "torch", "Tensor") || is_called(type, "torch.nn.parameter", "Parameter");
#endif
}

void note_torch_tensor(nb::handle object, const dlpack::ExchangeTable& table,
                       const dlpack::Tensor& lent) noexcept {
    TorchTensors& torch = torch_tensors;
    if (torch.table != &table) {
        torch = TorchTensors{};
        torch.table = &table;
        torch.has_other_layout = is_disabled(FastPath::Torch) || !find_functions(torch);
        (void)note_fast_path(FastPath::Torch, !torch.has_other_layout);
    }
    if (torch.has_other_layout) {
        return;
    }
    const std::size_t tensor_at =
        torch.tensor_at != 0 ? torch.tensor_at : place_of_tensor(object, lent);
    if (tensor_at == 0) {
        return; // the next tensor may show it
    }
    TorchTensors::Tensor const inside = reinterpret_cast<char*>(object.ptr()) + tensor_at;
    std::int32_t layout = 0;
    TorchTensors::Kind* const kind = torch.find(inside, layout);
    // Complex numbers may be stored as their conjugates, which only DLPack reports.
    if (kind == nullptr || kind->type.bits != 0 ||
        (torch.tensor_at != 0 && layout != torch.strided) ||
        lent.dtype.code == dlpack::TypeCode::Complex ||
        (lent.device.type != dlpack::DeviceType::Cpu &&
         lent.device.type != dlpack::DeviceType::Cuda)) {
        return;
    }
    *kind = {.type = lent.dtype, .device = lent.device.type};
    torch.tensor_at = tensor_at;
    torch.strided = layout;
    dlpack::Tensor read{};
    if (!read_torch_tensor(object, table, read) || !is_same(read, lent)) {
        torch.tensor_at = 0;
        torch.has_other_layout = true;
        (void)note_fast_path(FastPath::Torch, false);
    }
}

} // namespace cuprum::python
