// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/field_value.hpp>

#include "libraries/nvml/call.hpp"

#include <string>

namespace cuprum::system {

void FieldValue::validate() const {
    if (status_ != nvml_abi::NVML_SUCCESS) {
        const auto status = static_cast<nvml_abi::nvmlReturn_t>(status_);
        const std::string field = "field " + std::to_string(static_cast<unsigned>(field_id()));
        nvml::raise(status, "nvmlDeviceGetFieldValues",
                    status == nvml_abi::NVML_ERROR_NOT_SUPPORTED
                        ? "this device does not have " + field + "; treat its value as unknown"
                        : "");
    }
}

FieldValue::Value FieldValue::value() const {
    validate();
    return value_;
}

} // namespace cuprum::system
