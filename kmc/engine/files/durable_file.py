"""Files of words at places of their own, in a folder of a run."""

from __future__ import annotations

import ctypes
import os

from kmc.engine.files.durable_folder import DurableFolder, step
from kmc.engine.native.memory import WORD_BYTES


class DataFile:
    """A file of words that are written once; threads may write at places of their own at the same time."""

    def __init__(self, folder: DurableFolder, name: str) -> None:
        self.path = folder.path / name
        self.descriptor = folder.open(name)

    def write(self, address: int, words: int, offset: int) -> None:
        """Write `words` words that lie at `address`, from word `offset` of the file on."""
        with step("write", self.path):
            data = memoryview((ctypes.c_char * (words * WORD_BYTES)).from_address(address))
            done = 0
            while done < len(data):
                done += os.pwrite(self.descriptor, data[done:], offset * WORD_BYTES + done)

    def sync(self) -> None:
        """Wait until everything that was written is on the disk."""
        with step("sync", self.path):
            os.fsync(self.descriptor)

    def close(self) -> None:
        """Give the descriptor back."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
