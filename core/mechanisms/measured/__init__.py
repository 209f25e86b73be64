"""A finished release compared with the table it was made of: noisy figures of its errors, with intervals."""
