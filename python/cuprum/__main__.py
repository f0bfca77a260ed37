# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""``python -m cuprum``."""

import sys

from cuprum._command import main

if __name__ == "__main__":
    sys.exit(main())
