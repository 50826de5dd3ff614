"""The networks that train."""
