"""The viewer: a page in the browser that shows a world while it is simulated, a recording, or a file of its own.

    perp view stack                             live, on this machine
    perp view --replay run.hdf5                 a recording
    perp view --export page.html stack --steps 300

The page itself is written in TypeScript, in the folder `viewer` of the repository; `make viewer` builds it.
"""
