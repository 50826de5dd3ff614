"""Did tables and attention find where tokens truly lie? Analyses of trained networks, on the CPU (Ito et al.)."""
