"""A simulation or a replay behind the commands of the page, and the process that runs it."""
