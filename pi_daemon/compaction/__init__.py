"""How large a context is, and, once it is too large, how it becomes smaller."""
