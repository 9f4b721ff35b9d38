"""The citation viewer: the picture of a page with highlighted boxes over it."""
