"""One training loop for all experiments.

A task (`poscope.training.task`) supplies the network, batches, loss and evaluation. The loop
(`poscope.training.loop`) owns the rest: precision, accumulation, optimiser and schedule, selection,
checkpoints, history, the stop at a NaN and the words in the log.
"""
