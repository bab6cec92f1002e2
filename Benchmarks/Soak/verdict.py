"""What the numbers of a soak say, and whether it has passed."""

import statistics
import time

from harness.measure import Table

# What a revocation takes in memory, in bytes. It stays for as long as its tokens may live and an hour more.
REVOCATION = 110
# Minutes. A shorter run takes too few samples for some measures, and does not fail for these.
ENOUGH = 5
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


class Verdict:
    def __init__(self, soak, sign_ins, minutes):
        self.soak, self.sign_ins, self.minutes = soak, sign_ins, minutes
        self.table = Table("Soak")

    def judge(self):
        """Prints all measures and the verdict; returns the exit status."""
        soak, table, counts = self.soak, self.table, self.soak.oracle.counts
        for name, count in sorted(counts.items()):
            print(f"    {count:>9,}  {name}")
        late = {phase: sorted(values)[len(values) * 99 // 100] * 1000 for phase, values in soak.lags.items()}
        listed = ", ".join(f"{phase} {value:.0f} ms" for phase, value in late.items())
        print(f"    the clients' own delay, p99: {listed}; they took {soak.spent:.2f} of a core under attack")
        table.at_most("refused as busy, without a fault", counts["busy without a fault"], 0, 0, "")
        table.at_least(
            "sign-ins a second under attack / asked for", soak.signed_in / self.sign_ins, 0.95, 0.99,
            f"{soak.signed_in:.0f}/s of {self.sign_ins:.0f}/s")
        self.latency()
        self.held()
        remembered = soak.ended_rate * 60 * REVOCATION / 1024
        for node in ("a", "c"):
            self.growth(f"resident memory of {node}, but for revocations", node, 3, " KiB/min", remembered)
            self.growth(f"descriptors of {node}", node, 4, "/min")
        self.reloads()
        # Last, so that nothing that was seen meanwhile is left out.
        table.at_most("wrong answers by the oracle", len(soak.oracle.wrong), 0, 0, "", self.told())
        table.print()
        return self.conclude()

    def conclude(self):
        """The last line, and the exit status."""
        missed, unclear = self.table.named("MISSED"), self.table.named("INCONCLUSIVE")
        is_short = self.minutes < ENOUGH
        said = [f"MISSED: {'; '.join(missed)}"] if missed else []
        if unclear:
            excuse = f", which a run of less than {ENOUGH} minutes does not fail for" if is_short else ""
            said.append(f"INCONCLUSIVE{excuse}: {'; '.join(unclear)}")
        has_failed = bool(missed or (unclear and not is_short))
        print(f"The soak has {'failed' if has_failed else 'passed'}. {' -- '.join(said)}".rstrip(), flush=True)
        return 1 if has_failed else 0

    def latency(self):
        middle = {phase: statistics.median(values) for phase, values in self.soak.latencies.items() if values}
        listed = ", ".join(f"{phase} {value / 1000:.1f} ms" for phase, value in middle.items())
        for what, other, aim, note in (
            ("p99 of honest requests, attacked / calm", "calm", 1.5, listed),
            ("the same, attacked / used", "used", 1.2, "the attacks alone"),
        ):
            if middle.get("attacked") and middle.get(other):
                self.table.at_most(what, middle["attacked"] / middle[other], 2, aim, "x", note)
            else:
                self.table.inconclusive(what, f"no slice of requests ended in one of the two: {listed}")

    def held(self):
        all_held, table = self.soak.held, self.table
        for held in all_held:
            held.ask("mute")
        time.sleep(2)
        reports = [(held, held.ask("report 0")) for held in all_held]
        for held, report in reports:
            print(f"    {held.name}: {report['open']:,} of {held.count:,} open, {report['back']:,} of "
                  f"{report['sent']:,} messages came back")
        lost = sum(held.count - report["open"] for held, report in reports)
        table.at_most("held sockets that were lost", lost, 0, 0, "", f"of {sum(held.count for held in all_held):,}")
        sent = sum(report["sent"] for _, report in reports)
        # Those that send nothing are greeted.
        gone = sum(report["sent"] - report["back"] for _, report in reports if report["sent"])
        table.at_most("messages on them that did not come back", gone, 0, 0, "", f"of {sent:,}")

    def growth(self, what, node, column, name, rate=0):
        """How it grew each minute of the attack, after its first third, beyond what is known and what its scatter
        explains."""
        of = [(sample[0], sample[column]) for sample in self.soak.samples if sample[1:3] == ("attacked", node)]
        what = f"{what}: growth under attack that is no scatter"
        found = growth(of[len(of) // 3:])
        if found is None:
            return self.table.inconclusive(what, f"too few samples: {len(of)}")
        slope, error, first, last = found
        known = f", {rate:,.0f} of them known" if rate else ""
        self.table.at_most(
            what, max(0, slope - rate - error), 0, 0, name,
            f"{slope:,.0f} ± {error:,.0f}{known}; from {first:,.0f} to {last:,.0f}")

    def reloads(self):
        """Each that failed is a wrong answer. That there were any is a measure of its own."""
        done = {gateway.name: self.soak.oracle.counts[f"reload of {gateway.name}"] for gateway in self.soak.gateways}
        told = ", ".join(f"{name} {count:,}" for name, count in done.items())
        least = min(done.values())
        self.table.row("reloads of the node with fewest", f"{least:,}", "1", "1", least >= 1, least >= 1, told)

    def told(self):
        counts = self.soak.oracle.counts
        ends = ("logout", "delete", "revoke ", "operator")
        return (
            f"{sum(v for k, v in counts.items() if k.startswith('sign in')):,} sign-ins, "
            f"{sum(v for k, v in counts.items() if k.startswith('refresh ')):,} refreshes, "
            f"{sum(v for k, v in counts.items() if k.startswith(ends)):,} ends, "
            f"{counts['live, let through'] + counts['ended, refused']:,} uses judged")
