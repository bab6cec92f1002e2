"""Knows every session of the soak and what its state must be; judges each answer by that."""

import asyncio
import collections
import json
import random
import time

from cluster import SKEW
from wire import Lost

# How long an end may take to count everywhere, after it was answered.
REACH = 1.0
# What no gateway can be asked to do while its store or its upstream is away, or it is overloaded.
BUSY = (429, 502, 503, 504)


class Token:
    """What was signed by a node, and between which moments of that node's own clock."""

    __slots__ = ("text", "born", "life", "offsets", "is_revoked")

    def __init__(self, text, life, clock, began):
        ended = time.monotonic()
        self.text, self.life, self.offsets = text, life, clock.offsets(began, ended)
        # Whether its revocation, alone, was asked for: as a token of a live session nothing is expected of it any more.
        self.is_revoked = False
        self.born = (began + min(self.offsets), ended + max(self.offsets))

    def fits(self, clock, began, ended):
        """Whether it was good by another node's clock all the time: yes, no (too early or too late), or not sure."""
        offsets = clock.offsets(began, ended)
        first, last = began + min(offsets), ended + max(offsets)
        # `iat` and `exp` are whole seconds.
        if last < self.born[0] - SKEW - 2:
            return "early"
        if first > self.born[1] + self.life + SKEW + 2:
            return "late"
        is_sure = first > self.born[1] - SKEW + 2 and last < self.born[0] + self.life - 1
        return "good" if is_sure else "unsure"


class Session:
    __slots__ = ("id", "owner", "secret", "token", "token_until", "refresh", "ended", "is_doubtful", "busy")

    def __init__(self, identifier, secret):
        self.id, self.secret = identifier, secret
        self.owner = self.token = self.refresh = None
        self.token_until = 0.0
        # When its end was answered.
        self.ended = None
        # Whether a change of it was asked for and not answered: nothing is expected of it any more.
        self.is_doubtful = False
        self.busy = False


class Oracle:
    def __init__(self, history):
        self.live = {}
        self.counts = collections.Counter()
        self.wrong = []
        self.history = history
        # While a gateway was cut off, it may know less for as long as `state.grace` allows.
        self.patience = {}
        # Until when refusals for want of a store are to be expected.
        self.disturbed_until = 0.0
        self.keys = []

    # MARK: The history

    def note(self, kind, **facts):
        self.counts[kind] += 1
        self.history.write(json.dumps({"at": round(time.monotonic(), 4), "kind": kind, **facts}) + "\n")

    def fault(self, what, **facts):
        self.wrong.append(what)
        self.note("WRONG", what=what, **facts)
        if len(self.wrong) <= 20:
            print(f"    WRONG: {what} {facts}", flush=True)

    def lost(self, session=None):
        self.counts["no answer"] += 1
        if session:
            session.is_doubtful = True
            self.live.pop(session.id, None)

    def disturb(self, seconds):
        self.disturbed_until = max(self.disturbed_until, time.monotonic() + seconds)

    @property
    def is_disturbed(self):
        return time.monotonic() <= self.disturbed_until

    def busy(self, what, status, code):
        """Something was refused that is right, since the gateway can't do it now."""
        self.counts[f"{what}, {status} {code}"] += 1
        if not self.is_disturbed:
            self.note("busy without a fault", what=what, status=status, code=code)

    # MARK: What was answered

    def signed_in(self, session, answer, user, clock, began):
        """A login or an upgrade was answered with 200."""
        owner = answer.get("user_id")
        if answer.get("session_id") != session.id:
            self.fault("signing in changed the session's id", session=session.id, got=answer.get("session_id"))
        if user and owner != user:
            self.fault("signed in as another user", session=session.id, wanted=user, got=owner)
        self.owned(session, owner)
        session.secret = answer.get("session_secret", session.secret)
        if "access_token" in answer:
            self.took_tokens(session, answer, clock, began)
        self.live[session.id] = session

    def owned(self, session, owner):
        """A client was told whose the session is."""
        if session.owner and session.owner != owner:
            self.fault("a second owner", session=session.id, first=session.owner, second=owner)
        session.owner = session.owner or owner

    def took_tokens(self, session, answer, clock, began):
        session.token = Token(answer["access_token"], answer["expires_in"], clock, began)
        session.refresh = answer.get("refresh_token", session.refresh)
        session.token_until = began + answer["expires_in"]

    def clock_is_right(self):
        """Tokens of a node whose clock was wrong are of no use elsewhere: they are refreshed before all others."""
        for session in self.live.values():
            if session.token.offsets != {0}:
                session.token_until = 0.0

    def ended(self, session):
        session.ended = time.monotonic()
        self.live.pop(session.id, None)

    # MARK: Judging

    def allowance(self, node):
        """How long after its end a session may still be let through at this node."""
        until, grace = self.patience.get(node.name, (0, 0))
        return grace if time.monotonic() < until else REACH

    def judge_live(self, session, token, node, answer, what, began):
        """A session that is live, with its owner's token, must be let through, if the token is good by the node's
        clock, and must not, if it was over."""
        if session.ended or session.is_doubtful or token.is_revoked:
            return
        status, code = answer
        fits = token.fits(node.clock, began, time.monotonic())
        facts = dict(session=session.id, node=node.name, offset=node.clock.offset)
        if status in (200, 101):
            if fits in ("late", "early"):
                self.fault(f"{what} was let through with a token that is {fits} by the node's clock", **facts)
            else:
                self.note("live, let through", session=session.id, node=node.name)
        elif status in BUSY:
            self.busy("live", status, code)
        elif fits == "good":
            self.fault(f"a success was lost: {what} of a live session answered {status} {code}", **facts)
        elif status == 401:
            self.counts[f"token {fits} by the node's clock, refused"] += 1
        else:
            self.fault(f"{what} with a token whose time is over was answered {status} {code}", **facts)

    def judge_ended(self, session, node, status, what, began):
        """A session whose end was answered must be refused, whatever any clock says."""
        self.judge_over(session.ended, node, status, what, began, session=session.id)

    def judge_over(self, ended, node, status, what, began, **facts):
        """What rests on something that ended at that moment must be refused."""
        late = began - ended
        if status in (200, 101):
            if late > self.allowance(node):
                self.fault(
                    f"{what} was let through at {node.name} {late:.2f} s after the end was answered",
                    offset=node.clock.offset, **facts)
            else:
                self.counts["let through within the reach"] += 1
        else:
            self.note("ended, refused", node=node.name, **facts)
            if node.clock.offset:
                self.counts["ended, refused by a node whose clock is wrong"] += 1

    def any_live(self, needs_token=True):
        """A session at random that no other client is changing."""
        if not self.live:
            return None
        # A list of the keys is made again only now and then.
        if not self.keys or random.random() < 0.01:
            self.keys = list(self.live)
        now = time.monotonic()
        for _ in range(8):
            session = self.live.get(random.choice(self.keys))
            if session and not session.busy and not session.is_doubtful:
                if not needs_token or session.token_until > now + 5:
                    return session
        return None


async def attempt(oracle, session, coroutine):
    """Waits for an answer; nil where none comes, after which nothing is known of the session."""
    try:
        return await coroutine
    except Lost:
        oracle.lost(session)
        return None
    except asyncio.CancelledError:
        raise
    except (OSError, EOFError, asyncio.TimeoutError, asyncio.IncompleteReadError):
        oracle.lost(session)
        return None
