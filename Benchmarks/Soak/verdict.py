"""What the samples of a soak say: whether something grows."""

import statistics

BLOCKS = 20
# Student's t for 18 degrees of freedom, 97.5 %.
T = 2.1


def growth(points):
    """How much it grows each minute, and how far that is uncertain, both per minute; from the medians of twenty equal
    parts of the time. Memory is taken in steps and held for a while, so that neighbouring samples say the same thing:
    the line through them all would look far more certain than it is."""
    size = len(points) // BLOCKS
    if size == 0:
        return None
    blocks = [points[len(points) % BLOCKS + i * size:][:size] for i in range(BLOCKS)]
    times = [statistics.fmean(point[0] for point in block) / 60 for block in blocks]
    values = [statistics.median(point[1] for point in block) for block in blocks]
    slope, start = statistics.linear_regression(times, values)
    left = sum((value - start - slope * time) ** 2 for time, value in zip(times, values))
    mean = statistics.fmean(times)
    error = (left / (BLOCKS - 2) / sum((time - mean) ** 2 for time in times)) ** 0.5
    return slope, T * error, values[0], values[-1]
