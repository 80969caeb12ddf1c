// Has no declarations: linking this target is enough. See defaults.c.
