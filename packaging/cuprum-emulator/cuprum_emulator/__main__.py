# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m cuprum_emulator``: the command ``cuprum-emulator``."""

import sys

from cuprum_emulator import main

sys.exit(main())
