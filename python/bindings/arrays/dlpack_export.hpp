// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What exporting a buffer and exporting a view have in common.

#pragma once

#include "arrays/dlpack.hpp"
#include "support/arguments.hpp"
#include "support/errors.hpp"

#include <cuprum/device.hpp>
#include <cuprum/dlpack.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <utility>

namespace cuprum::python {

/// What `__dlpack__` was asked for.
struct ExportRequest {
    bool is_versioned = false;
    bool wants_cpu = false; // although devices can access the memory too
    /// The stream that will use the memory; see ConsumerStream.
    enum class Ordering { None, Handle } ordering = Ordering::None;
    std::uintptr_t stream = 0;

    /// Reads the arguments of `__dlpack__`; `own` is where the memory lies.
    /// @throws BufferError for what cannot be had.
    [[nodiscard]] static ExportRequest read(nb::handle stream, nb::handle max_version,
                                            nb::handle device, nb::handle copy,
                                            const dlpack::Device& own, bool is_host_accessible);

    /// @throws BufferError for read-only memory if the consumer has no way to know.
    void check_readonly(bool is_readonly) const;
};

/// Wraps a tensor in a capsule, which owns it until someone takes it out.
template <typename Managed>
[[nodiscard]] nb::object wrap_in_capsule(Managed* tensor);

/// Makes the table of C functions of a type as the capsule that it offers; all of it lives as long
/// as the process.
[[nodiscard]] nb::object exchange_capsule(const dlpack::ExchangeTable& table);

/// Runs one of the exchange functions, which C code calls with the GIL held: 0, or -1 and a Python
/// error.
template <typename Action>
[[nodiscard]] int status_of(const Action& action) noexcept {
    try {
        action();
        return 0;
    } catch (...) {
        set_python_error(std::current_exception());
        return -1;
    }
}

/// Refuses to allocate: our types do not make tensors for others.
int refuse_allocation(dlpack::Tensor* prototype, dlpack::ManagedTensorVersioned** out,
                      void* context, dlpack::SetError set_error);

/// Makes a StridedMemoryView of a tensor, which it takes over.
int view_from_managed(dlpack::ManagedTensorVersioned* tensor, void** out_object);

/// Reports that there is no current stream: each call names the stream it is ordered on.
int no_current_stream(dlpack::DeviceType type, std::int32_t id, void** out_stream);

// ---- implementation ----------------------------------------------------------------------------

namespace detail {

template <typename Managed>
constexpr const char* CAPSULE_NAME =
    std::same_as<Managed, dlpack::ManagedTensor> ? dlpack::NAME : dlpack::VERSIONED_NAME;

} // namespace detail

template <typename Managed>
nb::object wrap_in_capsule(Managed* tensor) {
    PyObject* capsule = PyCapsule_New(tensor, detail::CAPSULE_NAME<Managed>, [](PyObject* unused) {
        // A consumer renames the capsule and takes over its contents.
        constexpr const char* name = detail::CAPSULE_NAME<Managed>;
        if (PyCapsule_GetName(unused) == name || PyCapsule_IsValid(unused, name) != 0) {
            auto* held = static_cast<Managed*>(PyCapsule_GetPointer(unused, name));
            if (held->deleter != nullptr) {
                held->deleter(held);
            }
        }
    });
    if (capsule == nullptr) {
        tensor->deleter(tensor);
        throw nb::python_error();
    }
    return nb::steal(capsule);
}

} // namespace cuprum::python
