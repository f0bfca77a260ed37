// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <pthread.h>

namespace cuprum::detail {

/// Makes forks wait for a mutex, so that a child finds it unlocked. For the mutexes of the process
/// that destructors take: a child destroys its objects when it exits, and the thread that held the
/// mutex in the moment of the fork does not exist there.
///
/// `GET` returns the mutex. Call this once for each, and for mutexes that are held together in the
/// reverse of the order in which they are locked. No thread may fork while it holds one.
template <auto GET>
[[nodiscard]] bool keep_unlocked_in_children() noexcept {
    const auto unlock = [] { GET().unlock(); };
    return ::pthread_atfork([] { GET().lock(); }, unlock, unlock) == 0;
}

} // namespace cuprum::detail
