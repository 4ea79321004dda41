"""What a task can ask for.

A work is a function `perform(task, folder)` that measures and returns a `Measurement`, in a file with the name of the
work. A file with several works on one subject has `perform_<work>` for each of them, and a line here.
"""

SHARED_FILES = {
    "amgs_run": "amgs",
    "amgs_step": "amgs",
    "blow_up": "pgs_sm",
    "convergence": "merits",
    "error_curve": "sequence",
    "frame_facts": "contact_frames",
    "lcp_run": "lcp_run",
    "pgs_units": "pgs_sm",
    "sequence": "sequence",
    "softened_friction": "contact_frames",
    "solutions": "sequence",
    "solve_to_merit": "merits",
    "spectrum": "lcp_run",
}
"""The files of works that share one."""
