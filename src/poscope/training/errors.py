"""What stops a training run and is for its user to mend."""

from poscope.errors import PoscopeError


class TrainingError(PoscopeError):
    """Training cannot start or go on; the message says why and what to do."""
