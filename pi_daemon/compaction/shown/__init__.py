"""What a path shows of the world that it was made in: files, git, tools. Nothing here looks at that world."""
