// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the bindings of cuprum.system share: queries without the GIL, enumerations, sequences.

#pragma once

#include "support/arguments.hpp"
#include "support/class.hpp"
#include "support/python_objects.hpp"

#include <cuprum/system/cooling.hpp>
#include <cuprum/system/device.hpp>
#include <cuprum/system/enums.hpp>
#include <cuprum/system/events.hpp>
#include <cuprum/system/field_value.hpp>
#include <cuprum/system/values.hpp>

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuprum::python {

[[nodiscard]] inline nb::object text_object(std::string_view text) {
    const auto size = static_cast<Py_ssize_t>(text.size());
    // NVML's texts are ASCII; only the name of a process may be anything.
    if (std::all_of(text.begin(), text.end(), [](char c) { return c >= 0; })) [[likely]] {
        nb::object made = nb::steal(PyUnicode_New(size, 127));
        if (!made.is_valid()) {
            throw nb::python_error();
        }
        std::memcpy(PyUnicode_1BYTE_DATA(made.ptr()), text.data(), text.size());
        return made;
    }
    return nb::steal(PyUnicode_DecodeUTF8(text.data(), size, "surrogateescape"));
}

/// Returns a tuple of two ints.
[[nodiscard]] inline nb::object pair_object(unsigned long long first, unsigned long long second) {
    return nb::make_tuple(first, second);
}

/// Returns an int that is at least 0 and fits into 32 bits.
/// @throws TypeError, ValueError naming the argument.
[[nodiscard]] unsigned unsigned_argument(nb::handle value, const char* name);

// ---- enumerations ------------------------------------------------------------------------------

/// The class of an enumeration in cuprum.system.typing, and how messages call it.
struct EnumLabel {
    const char* type;
    const char* what;
};

template <typename Enum>
inline constexpr EnumLabel ENUM_LABEL{nullptr, nullptr};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::AddressingMode>{"AddressingMode", "addressing mode"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::AffinityScope>{"AffinityScope", "affinity scope"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::ClockId>{"ClockId", "clock ID"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::ClockType>{"ClockType", "clock type"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::ClockEventReason>{"ClocksEventReasons",
                                                                "clock event reason"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::CoolerControl>{"CoolerControl", "cooler control"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::CoolerTarget>{"CoolerTarget", "cooler target"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::EccCounter>{"EccCounterType", "ECC counter"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::EventType>{"EventType", "event type"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::FanControlPolicy>{"FanControlPolicy",
                                                                "fan control policy"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::GpuP2PCapsIndex>{"GpuP2PCapsIndex", "P2P caps index"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::GpuP2PStatus>{"GpuP2PStatus", "P2P status"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::GpuTopologyLevel>{"GpuTopologyLevel",
                                                                "topology level"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::InforomObject>{"InforomObject", "InfoROM object"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::MemoryErrorType>{"MemoryErrorType",
                                                               "memory error type"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::SystemEventType>{"SystemEventType", "event type"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::TemperatureThreshold>{"TemperatureThresholds",
                                                                    "temperature threshold type"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::ThermalController>{"ThermalController",
                                                                 "thermal controller"};
template <>
inline constexpr EnumLabel ENUM_LABEL<system::ThermalTarget>{"ThermalTarget",
                                                             "thermal sensor index"};

/// Returns the member of a class of cuprum.system.typing with a value. It is never freed.
[[nodiscard]] PyObject* find_member(const char* type, std::string_view value);

/// Raises for an argument that no member equals; `names` are the values, each in quotation marks.
[[noreturn]] void refuse_choice(const EnumLabel& label, nb::handle value, const std::string& names);

/// The members of an enumeration, found when first used.
template <system::NamedEnum Enum>
class Members {
public:
    static constexpr const auto& NAMES = system::detail::ENUM_NAMES<Enum>;

    /// Returns the member; for a value that has none, an int.
    [[nodiscard]] static nb::object of(Enum value) {
        for (std::size_t i = 0; i < NAMES.size(); ++i) {
            if (NAMES[i].value == value) {
                return nb::borrow(at(i));
            }
        }
        return nb::int_(static_cast<long long>(value));
    }

    /// Returns the value that a member or a str names.
    /// @throws ValueError listing the names, TypeError for anything but a str.
    [[nodiscard]] static Enum parse(nb::handle text) {
        for (std::size_t i = 0; i < NAMES.size(); ++i) {
            if (text.ptr() == members_[i].load(std::memory_order_acquire)) {
                return NAMES[i].value;
            }
        }
        if (PyUnicode_Check(text.ptr()) != 0) {
            Py_ssize_t size = 0;
            if (const char* characters = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) {
                const std::string_view wanted(characters, static_cast<std::size_t>(size));
                for (const auto& known : NAMES) {
                    if (known.name == wanted) {
                        return known.value;
                    }
                }
            } else {
                PyErr_Clear(); // not valid text: refused below
            }
        }
        std::string names;
        for (const auto& known : NAMES) {
            names += (names.empty() ? "'" : ", '") + std::string(known.name) + "'";
        }
        refuse_choice(ENUM_LABEL<Enum>, text, names);
    }

    /// Returns the default of an argument that the caller left out, or what it names.
    [[nodiscard]] static Enum parse_or(nb::handle text, Enum fallback) {
        return text.is_none() ? fallback : parse(text);
    }

private:
    [[nodiscard]] static PyObject* at(std::size_t index) {
        PyObject* member = members_[index].load(std::memory_order_acquire);
        if (member == nullptr) [[unlikely]] {
            member = find_member(ENUM_LABEL<Enum>.type, NAMES[index].name);
            members_[index].store(member, std::memory_order_release);
        }
        return member;
    }

    static inline std::array<std::atomic<PyObject*>, NAMES.size()> members_{};
};

template <system::NamedEnum Enum>
[[nodiscard]] nb::object member(Enum value) {
    return Members<Enum>::of(value);
}

template <system::NamedEnum Enum>
[[nodiscard]] nb::object member_list(const std::vector<Enum>& values) {
    nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(values.size())));
    if (!list.is_valid()) {
        throw nb::python_error();
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), member(values[i]).release().ptr());
    }
    return list;
}

/// Reads an argument that is one member or str, or a list of them.
/// @throws TypeError for anything else, ValueError for an unknown one.
template <system::NamedEnum Enum>
[[nodiscard]] std::vector<Enum> choices_argument(nb::handle events, const char* name) {
    if (PyUnicode_Check(events.ptr()) != 0) {
        return {Members<Enum>::parse(events)};
    }
    if (PyList_Check(events.ptr()) == 0 && PyTuple_Check(events.ptr()) == 0) {
        raise_error(PyExc_TypeError, std::string(name) + " must be a " + ENUM_LABEL<Enum>.type +
                                         ", a str, or a list of them, got " + type_label(events));
    }
    std::vector<Enum> values;
    for (const nb::handle event : events) {
        values.push_back(Members<Enum>::parse(event));
    }
    return values;
}

// ---- sequences ---------------------------------------------------------------------------------

/// A fixed sequence of values that NVML returned together.
template <typename T>
struct Values {
    std::vector<T> all;
};

/// Returns the index that Python means, also counted from the end.
/// @throws TypeError, IndexError.
[[nodiscard]] std::size_t index_argument(nb::handle index, std::size_t count, const char* what);

/// What messages call one value.
template <typename T>
inline constexpr const char* ITEM_LABEL = "item";
template <>
inline constexpr const char* ITEM_LABEL<system::DynamicPStateUtilization> = "part";
template <>
inline constexpr const char* ITEM_LABEL<system::ThermalSensor> = "sensor";
template <>
inline constexpr const char* ITEM_LABEL<system::FieldValue> = "field";
template <>
inline constexpr const char* ITEM_LABEL<system::SystemEvent> = "event";

/// Binds the protocol of a sequence. Each value is a Python object of its own.
template <typename T>
void bind_sequence(Class<Values<T>>& type) {
    type.method("__len__", [](const Values<T>& self) { return self.all.size(); });
    type.method("__getitem__", [](const Values<T>& self, nb::handle idx) {
        return make<T>(self.all[index_argument(idx, self.all.size(), ITEM_LABEL<T>)]);
    });
}

/// Returns a list of Python objects that each hold one value.
template <typename T>
[[nodiscard]] nb::object object_list(std::vector<T> values) {
    nb::list list;
    for (T& value : values) {
        list.append(make<T>(std::move(value)));
    }
    return list;
}

/// Returns an iterator over Python objects that each hold one value, as the reference does.
template <typename T>
[[nodiscard]] nb::object object_iterator(std::vector<T> values) {
    return nb::steal(PyObject_GetIter(object_list(std::move(values)).ptr()));
}

/// Returns the object with the temperatures of a device.
[[nodiscard]] nb::object temperature_object(const system::Device& device);

void bind_system_values(nb::module_& module);
void bind_system_parts(nb::module_& module);
void bind_system_links(nb::module_& module);
void bind_system_events(nb::module_& module);
void bind_system_device(nb::module_& module);
void add_device_state(Class<system::Device>& type);

} // namespace cuprum::python
