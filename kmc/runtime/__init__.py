"""Kernels without their compiler: how states lie in words, code to load and call, a compiled spec as bytes."""
