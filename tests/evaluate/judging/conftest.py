"""What the tests of evaluators share: `bench`, the command line on a few answers and a scripted server."""

from support.judge_bench import bench as bench
