#include "include/baselines.h"
