"""What the tests of `ragassay judge` share: `bench`, the command line on a few answers and a scripted server."""

from support.judge_bench import bench as bench
