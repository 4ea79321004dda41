"""Classes of matrices in complementarity theory: `classify` decides, `check_witness` checks."""

from perp.linalg.classes.classify import classify
from perp.linalg.classes.inquiry import CLASSES, MatrixClasses, Verdict, Witness
from perp.linalg.classes.witnesses import check_witness

__all__ = ["CLASSES", "MatrixClasses", "Verdict", "Witness", "check_witness", "classify"]
