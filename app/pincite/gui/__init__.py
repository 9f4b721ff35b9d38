"""The window: the only part of Pincite that imports Qt. It shows what the library decides."""
