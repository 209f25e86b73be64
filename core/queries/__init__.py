"""One file per class of questions. It imports rooms up to the kernel."""
