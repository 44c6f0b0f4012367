"""The one daemon of a user: where it is found, how it starts, serves and stops."""
