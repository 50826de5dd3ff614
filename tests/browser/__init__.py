"""The report as a browser shows it and prints it."""
