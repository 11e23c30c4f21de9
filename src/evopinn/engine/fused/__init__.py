"""Kernels compiled for one activation function: all its derivatives in one pass over the data."""
