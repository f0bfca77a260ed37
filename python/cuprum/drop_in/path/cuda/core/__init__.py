# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""Stand for ``cuda.core`` in a process whose search path begins with this folder."""

from cuprum.drop_in import become

become()
