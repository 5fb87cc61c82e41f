"""Failed runs: reads their logs and names the failure mode, its fix, and the line of the config that caused it."""

from .diagnosis import ConfigCause, Diagnosis, diagnose
from .logs import LogError
from .modes import Kind, Mode, all_modes, find_mode, modes_of

__all__ = [
    "ConfigCause",
    "Diagnosis",
    "Kind",
    "LogError",
    "Mode",
    "all_modes",
    "diagnose",
    "find_mode",
    "modes_of",
]
