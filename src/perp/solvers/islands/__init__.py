"""Islands solved one by one."""
