"""What a study survives: kills, full and read-only disks, damaged files, two schedulers at once."""
