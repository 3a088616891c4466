"""Imported once by the server that training processes are forked from: they start in a second instead of fifteen."""

import os

os.environ["DS_ACCELERATOR"] = "cpu"

import torch

import tasks.training.cleaner.train  # noqa: F401 - that is what takes long

torch.set_num_threads(1)
