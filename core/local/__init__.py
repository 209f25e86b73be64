"""The local model: people randomise their own answers, and estimates are made from what they send.

It imports rooms up to theory. Nothing here ever holds an answer that was not randomised, except what the person's own
device (or a program that stands for it) hands to a randomiser.
"""
