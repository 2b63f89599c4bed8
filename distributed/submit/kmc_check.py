"""An application for spark-submit: the words of `kmc check`, with the master that spark-submit has.

spark-submit --master spark://HOST:7077 kmc_check.py kip_996 large --run-dir /shared/runs
"""

import sys

from kmc.cli.main import main
from kmc.cli.options.spark_settings import SUBMITTED
from kmc_spark.submitted import stderr_of_spark

if __name__ == "__main__":
    sys.argv[1:] = ["check", *sys.argv[1:], "--spark", SUBMITTED]
    with stderr_of_spark():
        main()
