"""What a fleet takes: so many nodes, sockets, logins and refreshes, on one PostgreSQL.

    python3 simulate.py [--nodes 100] [--sockets 10000000] [--help]

First the model, in which every figure is a product of the wish and a measured cost. Then a simulation of some hours,
second by second, with the chances of arrivals, a rolling restart, a node that dies, and a store that stops for a while:
what the store does, how long writes wait, what each node hears of the feed, how many sockets a node holds at most.

The measured costs are those of docs/performance.md; they are of one small machine, and flags replace them. The store is
taken as a queue that is served at its measured rate, so the simulation knows nothing of locks between sessions: the
figures are an upper bound of what one PostgreSQL does.
"""

import argparse
import math
import random
import sys

DAY = 86400


def arguments(words):
    parser = argparse.ArgumentParser(description="What a fleet of gateways takes.")
    wish = parser.add_argument_group("what is wanted")
    wish.add_argument("--nodes", type=int, default=100)
    wish.add_argument("--sockets", type=int, default=10_000_000, help="open at the same time")
    wish.add_argument("--logins-per-day", type=float, default=1.0, help="of each person with a socket")
    wish.add_argument("--token-lifetime", type=float, default=900, help="tokens.access_token_lifetime, s")
    wish.add_argument("--logout-share", type=float, default=0.3, help="share of the logins that are ended by a logout")
    wish.add_argument("--messages", type=float, default=0.01, help="intents a second on each socket")
    wish.add_argument("--embedded", action="store_true", help="intents run in the embedded Runtime, which stores them")
    wish.add_argument("--drain", type=float, default=20, help="server.drain, s; sockets are closed over its first half")
    wish.add_argument("--peak", type=float, default=3.0, help="the busiest hour beside the average")
    cost = parser.add_argument_group("what was measured (docs/performance.md)")
    cost.add_argument("--changes", type=float, default=9700, help="changes of sessions a second, one PostgreSQL")
    cost.add_argument("--creations", type=float, default=17400, help="creations of sessions a second, one PostgreSQL")
    cost.add_argument("--hash", type=float, default=0.10, help="processor seconds for one password (scrypt, 32 MiB)")
    cost.add_argument("--upgrade", type=float, default=160e-6, help="processor seconds for one upgrade to a socket")
    cost.add_argument("--message", type=float, default=14e-6, help="processor seconds for one message")
    cost.add_argument("--ping", type=float, default=30e-6, help="processor seconds for one ping and its answer")
    cost.add_argument("--socket-memory", type=float, default=8.9e3, help="bytes of a socket, relayed")
    cost.add_argument("--session-memory", type=float, default=830, help="bytes of a session in the view")
    cost.add_argument("--row", type=float, default=110, help="bytes of a row of the feed on the wire, counted")
    parser.add_argument("--cores", type=int, default=8, help="of each node")
    parser.add_argument("--hours", type=float, default=3)
    parser.add_argument("--seed", type=int, default=1)
    found = parser.parse_args(words)
    if found.nodes < 1 or found.sockets < 1 or found.token_lifetime <= 0 or not 0 < found.hours <= 240:
        parser.error("nodes, sockets, the lifetime and the hours (up to 240) must be positive")
    return found


class Model:
    """What is needed a second, at the peak, when all is calm."""

    def __init__(self, a):
        self.a = a
        self.logins = a.sockets * a.logins_per_day * a.peak / DAY
        # A client refreshes when its token has four fifths of its life behind it.
        self.refreshes = a.sockets / (a.token_lifetime * 0.8)
        self.logouts = self.logins * a.logout_share
        self.stored_intents = 2 * a.sockets * a.messages if a.embedded else 0.0
        # A login is one transaction: the session's owner, its secret, its family. A visitor's session was made before.
        self.creations = self.logins
        self.changes = self.logins + self.refreshes + self.logouts + self.stored_intents
        # The share of the store's time: creations are cheaper.
        self.load = self.changes / a.changes + self.creations / a.creations
        self.rows = self.changes
        self.feed = self.rows * a.row
        self.sockets_per_node = a.sockets / a.nodes
        self.memory = self.sockets_per_node * a.socket_memory + self.sockets_per_node * a.session_memory
        self.cpu_hash = self.logins / a.nodes * a.hash
        self.cpu_sockets = self.sockets_per_node * (a.messages * 2 * a.message + a.ping / 25)
        # When a node stops, its sockets come back to the others within half a drain.
        self.wave = self.sockets_per_node / (a.drain / 2)
        self.cpu_wave = self.wave / max(1, a.nodes - 1) * a.upgrade

    def lines(self):
        a = self.a
        shards = max(1, math.ceil(self.load / 0.7))
        yield "store"
        yield "  logins             %10.0f /s   (%.1f a day each, %.0fx at the peak)" % (self.logins, a.logins_per_day, a.peak)
        yield "  refreshes          %10.0f /s   (tokens live %.0f s)" % (self.refreshes, a.token_lifetime)
        yield "  logouts            %10.0f /s" % self.logouts
        if self.stored_intents:
            yield "  intents            %10.0f /s   (begun and done)" % self.stored_intents
        yield "  load of PostgreSQL %10.0f %%    (of what one does; 70 %% leaves room for waves)" % (100 * self.load)
        yield "  databases          %10d      to stay below 70 %%" % shards
        yield "  connections        %10d      13 for each node" % (13 * a.nodes)
        yield "feed"
        yield "  rows               %10.0f /s   heard by every node of a database" % (self.rows / shards)
        yield "  to each node       %10.2f MB/s" % (self.feed / shards / 1e6)
        yield "  from each database %10.0f MB/s" % (self.feed / shards / 1e6 * a.nodes / shards)
        yield "node (of %d, %d cores)" % (a.nodes, a.cores)
        yield "  sockets            %10.0f" % self.sockets_per_node
        yield "  memory             %10.1f GB" % (self.memory / 1e9)
        yield "  cores: passwords   %10.2f" % self.cpu_hash
        yield "  cores: sockets     %10.2f" % self.cpu_sockets
        yield "  a node that stops  %10.0f sockets/s come back, %.2f cores at each other node" % (self.wave, self.cpu_wave)


def arrivals(chance, mean):
    """How many of something with this mean happen in a second (Poisson; above 50 as its normal approximation)."""
    if mean > 50:
        return max(0, round(chance.gauss(mean, math.sqrt(mean))))
    limit, count, product = math.exp(-mean), 0, chance.random()
    while product > limit:
        count += 1
        product *= chance.random()
    return count


class Simulation:
    """Second by second: the queue of the store, and the sockets of each node."""

    def __init__(self, model, shards):
        self.model, self.a, self.shards = model, model.a, shards
        self.chance = random.Random(self.a.seed)
        self.sockets = [self.a.sockets / self.a.nodes] * self.a.nodes
        self.waiting = 0.0
        self.queue = 0.0
        self.delays = []
        self.rows = []
        self.most_sockets, self.most_waiting, self.most_upgrades = max(self.sockets), 0.0, 0.0

    def run(self):
        a = self.a
        seconds = int(a.hours * 3600)
        # A node dies at one fifth; a rolling restart begins at two fifths; the store stops for 20 s at four fifths.
        death = seconds // 5
        restart, pause = seconds * 2 // 5, max(30, int(a.drain) + 5)
        outage = range(seconds * 4 // 5, seconds * 4 // 5 + 20)
        down, draining = {}, {}
        for second in range(seconds):
            if second == death and a.nodes > 1:
                self.waiting += self.sockets[0]
                self.sockets[0] = 0.0
                down[0] = second + 60
            turn, rest = divmod(second - restart, pause)
            if a.nodes > 1 and second >= restart and rest == 0 and turn < a.nodes and turn not in down:
                draining[turn] = self.sockets[turn] / (a.drain / 2)
            for node, rate in list(draining.items()):
                left = min(rate, self.sockets[node])
                self.sockets[node] -= left
                self.waiting += left
                if self.sockets[node] <= 0:
                    del draining[node]
                    down[node] = second + 5
            down = {node: end for node, end in down.items() if end > second}
            self.reconnect(second, down, draining, second in outage)
            self.store(second in outage)
        return self

    def reconnect(self, second, down, draining, is_out):
        """Clients come back after a pause of up to five seconds, to the nodes with the fewest sockets."""
        if is_out:
            return
        back = self.waiting / 3 if self.waiting > 1000 else self.waiting
        self.waiting -= back
        ready = [node for node in range(self.a.nodes) if node not in down and node not in draining]
        if not ready:
            self.waiting += back
            return
        if back:
            mean = (sum(self.sockets[node] for node in ready) + back) / len(ready)
            room = {node: max(0.0, mean - self.sockets[node]) for node in ready}
            total = sum(room.values()) or 1.0
            for node, free in room.items():
                self.sockets[node] += back * free / total
            self.most_upgrades = max(self.most_upgrades, max(room.values()) * back / total)
        self.most_sockets = max(self.most_sockets, max(self.sockets))
        self.most_waiting = max(self.most_waiting, self.waiting)

    def store(self, is_out):
        """One database of those there are: work arrives, is served at its rate, and waits."""
        model, a = self.model, self.a
        changes = arrivals(self.chance, model.changes / self.shards)
        creations = arrivals(self.chance, model.creations / self.shards)
        # In seconds of the store's time. A silent store refuses, and clients try again: the work waits.
        self.queue += changes / a.changes + creations / a.creations
        if not is_out:
            self.queue = max(0.0, self.queue - 1.0)
        self.delays.append(self.queue)
        self.rows.append(changes)

    def lines(self):
        def at(values, share):
            ordered = sorted(values)
            return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

        a = self.a
        yield "simulation of %.0f h: a node dies, all nodes restart in turn, the store stops for 20 s" % a.hours
        yield "  writes wait for a database, p50 / p99 / most       %.2f / %.2f / %.1f s" % (
            at(self.delays, 0.5), at(self.delays, 0.99), max(self.delays))
        yield "  left at the end                                    %.1f s%s" % (
            self.queue, ": it never catches up" if self.queue > 60 else "")
        yield "  rows of the feed, p50 / most                       %.0f / %.0f /s" % (at(self.rows, 0.5), max(self.rows))
        yield "  sockets of a node, most                            %.0f (%.1f GB)" % (
            self.most_sockets, self.most_sockets * (a.socket_memory + a.session_memory) / 1e9)
        yield "  upgrades at one node, most                         %.0f /s (%.2f cores)" % (
            self.most_upgrades, self.most_upgrades * a.upgrade)
        yield "  sockets that wait to come back, most               %.0f" % self.most_waiting


def main(words):
    model = Model(arguments(words))
    for line in model.lines():
        print(line)
    shards = max(1, math.ceil(model.load / 0.7))
    for count in sorted({1, shards}):
        print("with %d database%s:" % (count, "" if count == 1 else "s"))
        for line in Simulation(model, count).run().lines():
            print("  " + line)


if __name__ == "__main__":
    main(sys.argv[1:])
