"""Choices among all small databases over an ordered column, drawn exactly by counting paths; part of the kernel."""
