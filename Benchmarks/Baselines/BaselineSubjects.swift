// Subjects over the baselines in C.
