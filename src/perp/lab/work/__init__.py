"""What a task can ask for: each file here has `perform(task, folder)`, which measures and returns a `Measurement`."""
