// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graphics/descriptor.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace cuprum {

detail::DescriptorCopy::DescriptorCopy(int descriptor)
    : copy_(descriptor < 0 ? -1 : ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)) {
    if (copy_ >= 0) {
        return;
    }
    if (descriptor >= 0 && errno != EBADF) {
        throw std::system_error(errno, std::generic_category(),
                                "descriptor " + std::to_string(descriptor) +
                                    " could not be duplicated for the driver");
    }
    throw std::invalid_argument("the file descriptor is " + std::to_string(descriptor) +
                                ", expected one that is open in this process");
}

detail::DescriptorCopy::~DescriptorCopy() {
    if (copy_ >= 0) {
        ::close(copy_);
    }
}

} // namespace cuprum
