"""What may be changed between two steps of a liquid, checked when it is set."""

from __future__ import annotations

from perp.problems.inputs import require_share
from perp.worlds.fluid.pressure import FORMS, SEPARATIONS, require_choice


class LiquidOptions:
    """How a step is made; `LiquidWorld` says what each option does."""

    warm_start: bool
    _separation: str
    _form: str
    _flip: float
    _volume_correction: float

    @property
    def separation(self) -> str:
        return self._separation

    @separation.setter
    def separation(self, word: str) -> None:
        require_choice(word, "separation", SEPARATIONS)
        self._separation = word

    @property
    def form(self) -> str:
        return self._form

    @form.setter
    def form(self, word: str) -> None:
        require_choice(word, "form", FORMS)
        self._form = word

    @property
    def flip(self) -> float:
        return self._flip

    @flip.setter
    def flip(self, share: float) -> None:
        require_share(share, "flip")
        self._flip = float(share)

    @property
    def volume_correction(self) -> float:
        return self._volume_correction

    @volume_correction.setter
    def volume_correction(self, share: float) -> None:
        require_share(share, "volume_correction")
        self._volume_correction = float(share)
