"""What the sources claim, judged on the study's tables."""
