// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>
#include <cuprum/system/field_id.hpp>

#include <cstdint>
#include <variant>

namespace cuprum::system {

/// A field to read: its number and, for some fields, a part of the device (a link, say).
struct FieldQuery {
    /// Asks for a field; `scope` is its link or its sensor.
    // NOLINTNEXTLINE(google-explicit-constructor): a field id is a query
    FieldQuery(FieldId id, unsigned scope = 0) : field_id(id), scope_id(scope) {}

    FieldId field_id;  // which field
    unsigned scope_id; // of which link or sensor
};

/// One field of a device and when it was read. Each field may have failed on its own.
///
/// @code
/// const std::vector<cuprum::system::FieldQuery> fields{cuprum::system::FieldId::DevEccCurrent};
/// for (const cuprum::system::FieldValue& each : cuprum::system::Device(0).field_values(fields)) {
///     std::puts(each.is_valid() ? "known" : "unknown"); // value() throws if it is unknown
/// }
/// @endcode
class CUPRUM_API FieldValue {
public:
    /// A number of one of three types.
    using Value = std::variant<double, std::int64_t, std::uint64_t>;

    /// `status` is the field's own nvmlReturn_t.
    FieldValue(FieldQuery query, std::int64_t timestamp_us, std::int64_t latency_us, int status,
               Value value)
        : query_(query), timestamp_us_(timestamp_us), latency_us_(latency_us), status_(status),
          value_(value) {}

    /// Returns which field it is.
    [[nodiscard]] FieldId field_id() const noexcept { return query_.field_id; }

    /// Returns the link or the sensor.
    [[nodiscard]] unsigned scope_id() const noexcept { return query_.scope_id; }

    /// Returns when the value was sampled, in microseconds since 1970.
    [[nodiscard]] std::int64_t timestamp_us() const noexcept { return timestamp_us_; }

    /// Returns how long the driver took to read the value.
    [[nodiscard]] std::int64_t latency_us() const noexcept { return latency_us_; }

    /// Returns whether the field was read. If not, value() throws.
    [[nodiscard]] bool is_valid() const noexcept { return status_ == 0; }

    /// Throws the field's error, if it has one.
    /// @throws NVMLError of the kind NOT_SUPPORTED for a field that the device lacks.
    void validate() const;

    /// Returns the value.
    /// @throws NVMLError as validate() does.
    [[nodiscard]] Value value() const;

private:
    FieldQuery query_;
    std::int64_t timestamp_us_;
    std::int64_t latency_us_;
    int status_;
    Value value_;
};

} // namespace cuprum::system
