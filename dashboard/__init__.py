"""The browser dashboard. It asks the engine and knows neither privacy nor single mechanisms."""

import os

# Pages, trials and releases run side by side, so threads inside one product of small matrices wait for one another: on
# a busy machine rounds of 0.003 s took 0.065. It counts only before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
