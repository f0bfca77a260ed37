// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum::detail {

/// A duplicate of a file descriptor for the driver. It is closed unless the driver took it over.
class DescriptorCopy {
public:
    /// @throws std::invalid_argument, naming the argument, if the descriptor is not open.
    explicit DescriptorCopy(int descriptor);
    ~DescriptorCopy();
    DescriptorCopy(const DescriptorCopy&) = delete;
    DescriptorCopy& operator=(const DescriptorCopy&) = delete;

    [[nodiscard]] int get() const noexcept { return copy_; }

    /// Leaves the descriptor to the driver.
    void release() noexcept { copy_ = -1; }

private:
    int copy_;
};

} // namespace cuprum::detail
