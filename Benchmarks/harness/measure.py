"""Interleaved measurements and the table."""

import os
import statistics

from .place import cpu_seconds

# Short and many, because a machine may change its speed from second to second, and only runs close in time compare.
REPETITIONS = int(os.environ.get("BENCH_REPETITIONS", "9"))
SECONDS = int(os.environ.get("BENCH_SECONDS", "1"))


class Subject:
    """A server under one load: `run` makes the load once and returns a figure a second."""

    def __init__(self, name, pid, run):
        self.name, self.pid, self.run = name, pid, run
        self.rates, self.costs = [], []

    def measure(self):
        before = cpu_seconds(self.pid)
        result = self.run()
        self.rates.append(result["rate"])
        # Includes the 0.3 s for which the generator warms up.
        spent = (cpu_seconds(self.pid) - before) * SECONDS / (SECONDS + 0.3)
        self.costs.append(spent * 1e6 / max(1, result["rate"] * SECONDS))
        for fault in ("failed", "bad_status", "refused"):
            if result.get(fault):
                raise SystemExit(f"{self.name}: {fault} {result[fault]}")
        return result

    @property
    def rate(self):
        return statistics.median(self.rates)

    @property
    def cost(self):
        """Microseconds of the server's CPU for one."""
        return statistics.median(self.costs)


def interleave(*subjects, rounds=REPETITIONS):
    """Runs A, B, C, C, B, A, A, B, C, …, so that other load on the machine affects all of them alike, also one that
    grows or shrinks steadily."""
    for number in range(rounds):
        for subject in subjects if number % 2 == 0 else reversed(subjects):
            subject.measure()
    for subject in subjects:
        rates = " ".join(f"{rate:,.0f}" for rate in subject.rates)
        cost = f"{subject.cost:6.1f} µs CPU each"
        print(f"    {subject.name:34} {subject.rate:>9,.0f} /s   {cost}   ({rates})", flush=True)


def ratio(one, other):
    """Median of the ratios of adjacent runs."""
    return statistics.median(a / b for a, b in zip(one.rates, other.rates))


def cost_beside(one, other):
    """CPU time of a request at one beside the other's: the median over the rounds, and where the middle half of them
    lies, as a note. Where that is wider than what is asked for, the machine was not quiet enough to tell."""
    pairs = [a / b for a, b in zip(one.costs, other.costs)]
    low, _, high = statistics.quantiles(pairs, n=4)
    rates = statistics.median(a / b for a, b in zip(one.rates, other.rates))
    return statistics.median(pairs), (
        f"{one.cost:.1f} µs, {other.cost:.1f} µs; half of {len(pairs)} pairs within {low:.3f} and {high:.3f}x; "
        f"rate {rates:.2f}x")


class Table:
    def __init__(self, title):
        self.title, self.rows = title, []

    def at_least(self, what, value, must, aim, note=""):
        self.row(what, f"{value:.2f}x", f"{must:.2f}x", f"{aim:.2f}x", value >= must, value >= aim, note)

    def at_most(self, what, value, must, aim, unit, note=""):
        self.row(what, f"{value:,.2f}{unit}", f"{must:g}{unit}", f"{aim:g}{unit}", value <= must, value <= aim, note)

    def row(self, what, value, must, aim, reaches, hits, note):
        verdict = "aim" if hits else "reached" if reaches else "MISSED"
        self.rows.append((what, value, must, aim, verdict, note))
        print(f"  {what}: {value} ({verdict}) {note}", flush=True)

    def inconclusive(self, what, note):
        """A measure that could not be taken: neither reached nor missed."""
        self.rows.append((what, "", "", "", "INCONCLUSIVE", note))
        print(f"  {what}: INCONCLUSIVE {note}", flush=True)

    def named(self, verdict):
        """The measures with this verdict."""
        return [row[0] for row in self.rows if row[4] == verdict]

    def print(self):
        print(f"\n{self.title}\n\n| measure | measured | must reach | aim | | how |\n|---|---|---|---|---|---|")
        for row in self.rows:
            print("| " + " | ".join(row) + " |")
        print(flush=True)
