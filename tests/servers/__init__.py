"""Local servers that stand in for the network."""
