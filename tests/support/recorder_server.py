#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The server of recorder.py: what is imported is compiled once, and not at each of thousands of starts."""

import recorder

recorder.main()
