"""Kernels, programs and small courses that several tests share, and code that runs them.

None of these modules is a test."""
