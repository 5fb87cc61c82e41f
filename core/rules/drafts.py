"""What a rule yields: a draft finding, to which the engine adds code, name and severity; and the fixes rules offer."""

from __future__ import annotations

from collections.abc import Callable

from ..findings import Edit, Fix, FixKind, Location, Related, Severity
from ..model.config import TrainingConfig
from ..model.dataset import Dataset
from ..model.values import Setting, Unknown, show
from ..records import dataclass
from ..syntax.editing import CannotEdit


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding before the engine stamps it."""

    message: str
    location: Location
    subject: str
    current: object = None
    recommended: object = None
    rationale: str = ""
    origin: str = "file"
    related: tuple[Related, ...] = ()
    fix: Fix | None = None
    severity: Severity | None = None  #: where it differs from the rule's own


def about(
    setting: Setting,
    message: str,
    *,
    recommended: object = None,
    rationale: str = "",
    fix: Fix | None = None,
    severity: Severity | None = None,
    related: tuple[Related, ...] = (),
    at_key: bool = False,
) -> Draft:
    """A draft that points at a setting: at its value, or at its key where the key itself is the matter."""
    location = setting.key_location if at_key and setting.key_location else setting.location
    if setting.anchor is not None:
        related = (*related, Related(setting.anchor, "the value is defined here"))
    return Draft(
        message,
        location,
        setting.subject,
        setting.value.text if isinstance(setting.value, Unknown) else plain(setting.value),
        recommended,
        rationale,
        setting.origin.value,
        related,
        fix,
        severity,
    )


def plain(value: object) -> object:
    """A value fit for JSON: Unknown and nodes as text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return show(value)


def attempt(
    title: str,
    edits: Callable[[], tuple[Edit, ...]],
    *,
    kind: FixKind = FixKind.SAFE,
    group: str | None = None,
    withheld: str = "",
    artifact: bool = True,
) -> Fix:
    """A fix, or, where the text cannot be edited safely, a fix without edits that says why."""
    try:
        return Fix(title, edits(), kind, group, withheld, artifact)
    except CannotEdit as error:
        return Fix(title, (), kind, group, withheld=f"it cannot be edited safely: {error}", artifact=False)


def inherited(config: TrainingConfig, code: str, setting: Setting, message: str = "") -> bool:
    """Whether a rule has spoken of a setting already: hundreds of datasets may inherit one, and it is told once."""
    name = (code, id(setting), message)  # settings live as long as their config
    if name in config.memo:
        return True
    config.memo[name] = True
    return False


def set_option(dataset: Dataset, key: str, value: object) -> Fix:
    """The fix that gives one option of a dataset its value."""
    return attempt(f"Set `{key}` to {show(value)}", lambda: dataset.set(key, value))


def set_key(config: TrainingConfig, path: str, value: object) -> Fix:
    """The fix that gives any other key of a config, such as `trainer.logger`, its value."""
    keys = tuple(path.split("."))
    return attempt(f"Set `{keys[-1]}` to {show(value)}", lambda: config.set(keys, value))
