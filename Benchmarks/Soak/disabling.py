"""Operators of the soak who disable accounts and OAuth clients with the command. What they disable is used by nobody
else, so that all that has to end with it is known."""

import asyncio
import random
import subprocess
import time

from oracle import BUSY, REACH, Session, Token, attempt

# Seconds between two commands of a kind.
PAUSE = 15


class Disablers:
    def __init__(self, oracle, gateway, nodes, people, workers):
        """`gateway` says which store the commands change."""
        self.oracle, self.gateway, self.nodes, self.people, self.workers = oracle, gateway, nodes, people, workers
        self.count = 0

    def tasks(self):
        yield self.every(self.disable_user)
        yield self.every(self.disable_client)

    async def every(self, work):
        while True:
            await asyncio.sleep(PAUSE)
            await self.workers.guarded(work)

    async def run(self, *words):
        """Runs a command, and returns what it did; None where it may or may not have done its work."""
        try:
            done = await asyncio.to_thread(self.gateway.command, *words)
        except subprocess.TimeoutExpired:
            done = None
        if done and done.returncode == 0:
            self.oracle.counts[f"command: {' '.join(words[:2])}"] += 1
            return done
        self.oracle.counts[f"command: {' '.join(words[:2])}, failed"] += 1
        # Without its store a command can do nothing.
        if not self.oracle.is_disturbed:
            told = done.stderr[-200:] if done else "no end within a minute"
            self.oracle.fault(f"gatehouse {' '.join(words[:2])} failed: {told}")
        return None

    def fair_node(self):
        """A node whose clock is right, so that the time of a token says nothing against it."""
        return random.choice([node for node in self.nodes if not node.clock.offset])

    # MARK: Accounts

    async def disable_user(self):
        """All sessions of a user and their tokens end, and the user can't sign in until the account is enabled; what
        has ended stays ended then."""
        self.count += 1
        person = self.people.count + self.count
        sessions = [await self.sign_in(person) for _ in range(2)]
        if None in sessions:
            return
        user = sessions[0].owner
        if not await self.run("users", "disable", user):
            return
        for session in sessions:
            session.ended = time.monotonic()
        await asyncio.sleep(REACH + 0.05)
        await self.expect_refused(sessions, "a disabled user")
        answer = await attempt(self.oracle, None, self.login(person, await self.workers.anonymous(), self.fair_node()))
        if answer and answer.status == 200:
            self.oracle.fault("a disabled user signed in", user=user)
        if not await self.run("users", "enable", user):
            return
        await asyncio.sleep(REACH + 0.05)
        # A session like any other from now on.
        again = await self.sign_in(person)
        if again:
            if again.owner != user:
                self.oracle.fault("an enabled account is another one", first=user, second=again.owner)
            self.oracle.live[again.id] = again
        await self.expect_refused(sessions, "a user who was disabled")

    def login(self, person, session, node):
        secret = session.secret if session else None
        return node.ask("POST", "/api/auth/login", {"subject_token": self.people.token(person)}, secret=secret)

    async def sign_in(self, person):
        """A session of this person that no other client knows; None where it could not be had."""
        session, node = await self.workers.anonymous(), self.fair_node()
        if not session:
            return None
        began = time.monotonic()
        answer = await attempt(self.oracle, None, self.login(person, session, node))
        # The clock may have been set meanwhile.
        if not answer or node.clock.offsets(began, time.monotonic()) != {0}:
            return None
        if answer.status != 200:
            if answer.status in BUSY:
                self.oracle.busy("sign in", answer.status, answer.code)
            else:
                self.oracle.fault(f"sign in of an enabled user was answered {answer.status} {answer.code}")
            return None
        session.owner, session.secret = answer.json["user_id"], answer.json["session_secret"]
        self.oracle.took_tokens(session, answer.json, node.clock, began)
        return session

    async def expect_refused(self, sessions, what):
        for session in sessions:
            for node in self.nodes:
                for path in ("/owned/x", "/token/x"):
                    await self.workers.expect_refused(session, node, path, what)

    # MARK: Clients

    async def disable_client(self):
        """A client's own token ends, and it gets no other."""
        self.count += 1
        try:
            client = await asyncio.to_thread(self.gateway.oauth_client, f"disabled-{self.count}")
        except subprocess.SubprocessError as error:
            self.oracle.counts["command: clients add, failed"] += 1
            if not self.oracle.is_disturbed:
                self.oracle.fault(f"gatehouse clients add failed: {error!r}")
            return
        node, began = self.fair_node(), time.monotonic()
        answer = await attempt(self.oracle, None, self.token(node, client))
        if not answer or answer.status in BUSY:
            return
        if answer.status != 200:
            return self.oracle.fault(f"a client's token was refused: {answer.status} {answer.body[:100]!r}")
        token = Token(answer.json["access_token"], answer.json["expires_in"], node.clock, began)
        # Only there to be asked about, as a session that lives.
        session = Session(client["client_id"], None)
        for node in self.nodes:
            began = time.monotonic()
            answer = await attempt(self.oracle, None, node.ask("GET", "/token/x", token=token.text))
            if answer:
                self.oracle.judge_live(
                    session, token, node, (answer.status, answer.code), "/token/x of a client", began)
        if not await self.run("clients", "disable", client["client_id"]):
            return
        ended = time.monotonic()
        await asyncio.sleep(REACH + 0.05)
        await self.workers.expect_over(token, ended, "/token/x of a disabled client", client=session.id)
        for node in self.nodes:
            answer = await attempt(self.oracle, None, self.token(node, client))
            if answer and answer.status == 200:
                self.oracle.fault("a disabled client got a token", node=node.name)

    @staticmethod
    def token(node, client):
        return node.ask("POST", "/oauth2/token", form={"grant_type": "client_credentials"} | client)
