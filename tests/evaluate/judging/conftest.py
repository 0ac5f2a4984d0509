"""What the tests of evaluators share: `bench`, the command line on a few answers and a scripted model."""

from support.embedding_bench import embedding as embedding
from support.embedding_bench import known_vectors as known_vectors
from support.judge_bench import bench_at_hand as bench_at_hand
