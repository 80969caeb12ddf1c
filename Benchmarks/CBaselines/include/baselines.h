// The benchmark's work on the engines' own C interfaces.
#ifndef TIDELINE_BASELINES_H
#define TIDELINE_BASELINES_H

#include <stddef.h>
#include <stdint.h>

#endif
