"""Honest clients: they sign in, refresh, use, race for and end sessions, and tell the oracle what was answered."""

import asyncio
import random
import struct
import time

from cluster import ASSERTION_LIFETIME
from endings import Endings
from oracle import BUSY, Session, attempt
from wire import Limit, Lost


class Workers(Endings):
    def __init__(self, oracle, nodes, people, rates, admins, client):
        """`admins` are the nodes' admin listeners by name, `client` what an OAuth client proves itself with."""
        self.oracle, self.nodes, self.people, self.rates = oracle, nodes, people, rates
        self.admins, self.client = admins, client
        self.held = set()

    def node(self):
        return random.choice(self.nodes)

    def tasks(self):
        yield self.every(self.rates.sign_ins, self.sign_in)
        yield self.every(self.rates.refreshes, self.refresh)
        yield self.every(self.rates.probes, self.probe)
        # Each goes on for up to eleven seconds after the answer, to use what has ended.
        yield self.every(self.rates.ends, self.end, 8192)
        yield self.every(self.rates.revocations, self.revoke_token)
        yield self.every(self.rates.races, self.race)
        for _ in range(self.rates.sockets):
            yield self.hold()

    async def every(self, rate, work, most=256):
        """Begins `work` at a rate, with at most so many under way."""
        running = set()
        began, count = time.monotonic(), 0
        while True:
            count += 1
            await asyncio.sleep(max(0, began + count / rate - time.monotonic()))
            if len(running) < most:
                task = asyncio.create_task(self.guarded(work))
                running.add(task)
                task.add_done_callback(running.discard)
            else:
                self.oracle.counts[f"{work.__name__}: not begun, too many wait"] += 1

    async def guarded(self, work):
        try:
            await work()
        except Lost:
            self.oracle.lost()

    # MARK: Sessions

    async def anonymous(self):
        answer = await attempt(self.oracle, None, self.node().ask("POST", "/api/session/create-anonymous"))
        if not answer or answer.status != 200:
            self.oracle.counts[f"create: {answer.status if answer else 'no answer'}"] += 1
            return None
        return Session(answer.json["session_id"], answer.json["session_secret"])

    async def sign_in(self):
        session = await self.anonymous()
        if not session:
            return
        person, node, began = self.people.any(), self.node(), time.monotonic()
        # The issuer's clock is right, or as wrong as the gateway's.
        offset = random.choice((0, node.clock.offset))
        answer = await attempt(self.oracle, session, node.ask(
            "POST", "/api/auth/login", {"subject_token": self.people.token(person, offset)}, secret=session.secret))
        if not answer:
            return
        status, code = answer.status, answer.code
        self.oracle.note(f"sign in {status}", session=session.id, user=answer.json.get("user_id"))
        # A step of the clock in this moment leaves open which was meant.
        wrong = {abs(offset - one) > ASSERTION_LIFETIME for one in node.clock.offsets(began, time.monotonic())}
        if status == 200 and wrong == {True}:
            self.oracle.fault(f"an assertion was accepted that is {offset} s off", node=node.name)
        if status == 200:
            user = self.people.known(person, answer.json["user_id"])
            self.oracle.signed_in(session, answer.json, user, node.clock, began)
        elif status in BUSY:
            self.oracle.busy("sign in", status, code)
        elif True not in wrong or status not in (400, 401):
            self.oracle.fault(f"sign in was answered {status} {code}", node=node.name, offset=node.clock.offset)

    async def refresh(self):
        oracle = self.oracle
        # The one whose token ends first of a few, so that none of them expires unnoticed.
        few = [session for session in (oracle.any_live(needs_token=False) for _ in range(6)) if session]
        if not few:
            return
        session = min(few, key=lambda one: one.token_until)
        session.busy = True
        try:
            await self.refresh_one(session)
        finally:
            session.busy = False

    async def refresh_one(self, session):
        """A refresh of which no answer comes, or 503, may have been done. It is asked for again within ten seconds, in
        which the same successor is given; after that nothing is known."""
        oracle, first, clocks = self.oracle, time.monotonic(), set()
        while True:
            node, began = self.node(), time.monotonic()
            answer = None
            try:
                answer = await node.ask("POST", "/api/auth/refresh", {"refresh_token": session.refresh}, timeout=4)
            except Lost:
                pass
            clocks |= node.clock.offsets(began, time.monotonic())
            if session.ended:
                return
            if answer and answer.status not in BUSY:
                break
            if answer:
                oracle.busy("refresh", answer.status, answer.code)
            if time.monotonic() - first > 5:
                return oracle.lost(session)
            await asyncio.sleep(0.5)
        oracle.note(f"refresh {answer.status}", session=session.id)
        if answer.status == 200:
            oracle.took_tokens(session, answer.json, node.clock, began)
        elif len(clocks) > 1:
            # Nodes that do not agree on the time do not agree on whether ten seconds have passed.
            oracle.lost(session)
        else:
            oracle.fault(
                f"a success was lost: refresh was answered {answer.status} {answer.code}", session=session.id,
                node=node.name, offset=node.clock.offset)

    async def probe(self):
        session = self.oracle.any_live()
        if not session:
            return
        began, node, token = time.monotonic(), self.node(), session.token
        path = "/owned/x" if random.random() < 0.8 else f"/api/session/{session.id}"
        answer = await attempt(self.oracle, None, node.ask("GET", path, token=token.text, session=session.id))
        if not answer:
            return
        what = path.split("ses_")[0]
        self.oracle.judge_live(session, token, node, (answer.status, answer.code), what, began)
        if answer.status == 200 and path != "/owned/x":
            self.oracle.owned(session, answer.json.get("user_id"))

    async def race(self):
        """Two people upgrade one anonymous session on two nodes at once: it is one's, and the other is refused."""
        session = await self.anonymous()
        rivals = [one for one in (self.oracle.any_live(), self.oracle.any_live()) if one]
        if not session or len(rivals) < 2 or rivals[0].owner == rivals[1].owner:
            return
        answers = await asyncio.gather(*(
            attempt(self.oracle, None, self.node().ask(
                "PATCH", f"/api/session/{session.id}/upgrade", {}, token=rival.token.text, secret=session.secret))
            for rival in rivals))
        owners = {answer.json.get("user_id") for answer in answers if answer and answer.status == 200}
        self.oracle.note("race", session=session.id, answers=[answer and answer.status for answer in answers])
        if len(owners) > 1:
            self.oracle.fault("two owners of one session", session=session.id, owners=sorted(owners))
        for rival, answer in zip(rivals, answers):
            if answer and answer.status == 200 and answer.json.get("user_id") != rival.owner:
                self.oracle.fault("upgraded for another user", session=session.id)
        for rival in rivals:
            if not owners or rival.ended or rival.token_until < time.monotonic() + 5:
                continue
            seen = await attempt(self.oracle, None, self.node().ask(
                "GET", f"/api/session/{session.id}", token=rival.token.text))
            if seen and seen.status == 200 and rival.owner not in owners:
                self.oracle.fault("the loser of a race sees the session", session=session.id)
            if seen and seen.status == 403 and rival.owner in owners:
                self.oracle.fault("the winner of a race has lost the session", session=session.id)
        for rival in rivals:
            if rival.owner in owners:
                await attempt(self.oracle, None, self.node().ask(
                    "DELETE", f"/api/session/{session.id}", token=rival.token.text))

    # MARK: Sockets

    async def hold(self):
        """A socket with a message each second; it closes within a second of the end of its session."""
        while True:
            session = self.oracle.any_live()
            if not session:
                await asyncio.sleep(1)
                continue
            node, token = self.node(), session.token
            path = random.choice(("/api/runtime/echo", "/socket/x"))
            began = time.monotonic()
            try:
                status, socket = await node.upgrade(path, token.text, session.id)
            except (OSError, EOFError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                self.oracle.lost()
                await asyncio.sleep(1)
                continue
            if not socket:
                if not session.ended:
                    self.oracle.judge_live(session, token, node, (status, ""), "a handshake", began)
                await asyncio.sleep(1)
                continue
            self.oracle.counts["socket opened"] += 1
            try:
                await self.use(session, node, socket)
            except (OSError, EOFError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                self.oracle.counts["socket cut"] += 1
            finally:
                socket.cut()

    async def use(self, session, node, socket):
        until = time.monotonic() + random.uniform(5, 60)
        while time.monotonic() < until:
            text, sent = f"{time.monotonic_ns():020d}", time.monotonic()
            socket.send(text)
            try:
                async with Limit(5):
                    opcode, payload = await socket.frame()
            except asyncio.TimeoutError:
                self.oracle.counts["socket silent"] += 1
                return
            if opcode == 8:
                code = struct.unpack("!H", payload[:2])[0] if len(payload) > 1 else 1005
                return self.oracle.note(f"socket closed {code}")
            if session.ended:
                # Counted from when it was sent: the answer may have waited for this program.
                late = sent - session.ended
                if late > self.oracle.allowance(node):
                    self.oracle.fault(
                        f"a socket answered a message of {late:.2f} s after its session's end", session=session.id,
                        node=node.name, offset=node.clock.offset)
            elif payload.decode("latin-1") != text and opcode in (1, 2):
                self.oracle.fault("a socket answered something else", got=payload[:60].decode("latin-1"))
            await asyncio.sleep(1)
