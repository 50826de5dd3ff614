"""What becomes of words and positions that are added up: analyses of a checkpoint's first layer, on the CPU."""
