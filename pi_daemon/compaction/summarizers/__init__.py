"""Ways to make a summary of a material."""
