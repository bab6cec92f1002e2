"""How honest clients and operators end sessions and revoke tokens, and that what has ended is refused."""

import asyncio
import random
import time

from oracle import BUSY, REACH, attempt

# The ways to end a session, and the status of what has been done.
ENDS = {"logout": 204, "delete": 204, "revoke": 200, "operator": 204}


class Endings:
    """A part of `Workers`."""

    async def end(self):
        oracle = self.oracle
        # As many end as begin, so that their number stays.
        if len(oracle.live) < self.rates.live:
            return
        session = oracle.any_live()
        if not session:
            return
        session.busy = True
        kind, node, token, began = random.choice(list(ENDS)), self.node(), session.token, time.monotonic()
        oracle.live.pop(session.id, None)
        # Until it is answered it may count or not.
        session.is_doubtful = True
        answer = await attempt(oracle, session, self.ask_for_end(kind, node, session))
        if not answer:
            return
        oracle.note(f"{kind} {answer.status}", session=session.id)
        # Only these are judged by their token.
        by_token = kind in ("logout", "delete")
        if by_token and answer.status == 401 and token.fits(node.clock, began, time.monotonic()) != "good":
            session.is_doubtful = session.busy = False
            oracle.live[session.id] = session
            return
        if answer.status != ENDS[kind]:
            if answer.status not in BUSY:
                oracle.fault(
                    f"{kind} of a live session was answered {answer.status} {answer.code}", session=session.id,
                    node=node.name, offset=node.clock.offset)
            return
        oracle.ended(session)
        await asyncio.sleep(REACH + 0.05)
        await self.expect_refused(session, self.node(), "/owned/x")
        await asyncio.sleep(random.uniform(1, 10))
        # It is the home of its family, so the tokens end with it, also where no session is asked for.
        await self.expect_refused(session, self.node(), "/token/x")

    def ask_for_end(self, kind, node, session):
        if kind == "logout":
            return node.ask("POST", "/api/auth/logout", {}, token=session.token.text)
        if kind == "delete":
            return node.ask("DELETE", f"/api/session/{session.id}", token=session.token.text)
        if kind == "revoke":
            return node.ask("POST", "/oauth2/revoke", form={"token": session.refresh} | self.client)
        return self.admins[node.name].ask("DELETE", f"/api/admin/sessions/{session.id}")

    async def revoke_token(self):
        """Revokes an access token alone: it is refused from then on, and its session goes on with the next."""
        session = self.oracle.any_live()
        if not session:
            return
        session.busy = True
        try:
            await self.revoke_one(session)
            if not session.is_doubtful:
                await self.refresh_one(session)
        finally:
            session.busy = False

    async def revoke_one(self, session):
        token, node, began = session.token, self.node(), time.monotonic()
        token.is_revoked = True
        answer = await attempt(self.oracle, None, node.ask(
            "POST", "/oauth2/revoke", form={"token": token.text} | self.client))
        if not answer or answer.status in BUSY:
            return
        ended = time.monotonic()
        self.oracle.note(f"revocation of a token {answer.status}", session=session.id)
        if answer.status != 200:
            return self.oracle.fault(f"the revocation of a token was answered {answer.status}", node=node.name)
        # One that is not good at this node is not looked at any further.
        if token.fits(node.clock, began, ended) != "good":
            return
        await asyncio.sleep(REACH + 0.05)
        await self.expect_over(token, ended, "/token/x with a revoked token", session=session.id)

    async def expect_over(self, token, ended, what, **facts):
        """No node takes a token whose end was answered at `ended`."""
        for node in self.nodes:
            began = time.monotonic()
            answer = await attempt(self.oracle, None, node.ask("GET", "/token/x", token=token.text))
            if answer:
                self.oracle.judge_over(ended, node, answer.status, what, began, **facts)

    async def expect_refused(self, session, node, path, what="an ended session"):
        began = time.monotonic()
        answer = await attempt(self.oracle, None, node.ask(
            "GET", path, token=session.token.text, session=session.id))
        if answer:
            self.oracle.judge_ended(session, node, answer.status, f"{path} of {what}", began)
