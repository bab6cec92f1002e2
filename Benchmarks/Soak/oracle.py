"""Knows every session of the soak and what its state must be; judges each answer by that."""

import asyncio
import collections
import json
import random
import time

from wire import Lost

# How long an end may take to count everywhere, after it was answered.
REACH = 1.0


class Session:
    __slots__ = ("id", "owner", "candidates", "secret", "token", "token_until", "refresh", "ended", "is_doubtful", "busy")

    def __init__(self, identifier, secret):
        self.id, self.secret = identifier, secret
        self.owner = None
        # Who may have become the owner by a request whose answer was lost.
        self.candidates = set()
        self.token = self.refresh = None
        self.token_until = 0.0
        # When its end was answered.
        self.ended = None
        # Whether a change of it was asked for and not answered.
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

    # MARK: What was answered

    def signed_in(self, session, answer, user, began):
        """A login or an upgrade was answered with 200."""
        owner = answer.get("user_id")
        if answer.get("session_id") != session.id:
            self.fault("signing in changed the session's id", session=session.id, got=answer.get("session_id"))
        if session.owner and session.owner != owner:
            self.fault("a second owner", session=session.id, first=session.owner, second=owner)
        if user and owner != user:
            self.fault("signed in as another user", session=session.id, wanted=user, got=owner)
        session.owner = owner
        session.secret = answer.get("session_secret", session.secret)
        if "access_token" in answer:
            self.took_tokens(session, answer, began)
        self.live[session.id] = session

    def took_tokens(self, session, answer, began):
        session.token = answer["access_token"]
        session.refresh = answer.get("refresh_token", session.refresh)
        session.token_until = began + answer["expires_in"]

    def ended(self, session):
        session.ended = time.monotonic()
        self.live.pop(session.id, None)

    # MARK: Judging

    def allowance(self, node):
        """How long after its end a session may still be let through at this node."""
        until, grace = self.patience.get(node.name, (0, 0))
        return grace if time.monotonic() < until else REACH

    def judge_live(self, session, status, code, what, began):
        """A session that is live, with its owner's credentials, must be let through."""
        if session.ended or session.is_doubtful or session.token_until < time.monotonic() + 1:
            return
        if status in (200, 101):
            return self.note("live, let through")
        if status in (502, 503, 504, 429):
            return self.note(f"live, {status} {code}")
        self.fault(f"a success was lost: {what} of a live session answered {status} {code}", session=session.id)

    def judge_ended(self, session, node, status, what, began):
        """A session whose end was answered must be refused."""
        late = began - session.ended
        if status in (200, 101):
            if late > self.allowance(node):
                self.fault(
                    f"{what} was let through at {node.name} {late:.2f} s after the end was answered",
                    session=session.id)
            else:
                self.counts["let through within the reach"] += 1
        else:
            self.note("ended, refused")

    def any_live(self, needs_token=True):
        """A session at random that nobody else is changing."""
        if not self.live:
            return None
        keys = self.keys()
        now = time.monotonic()
        for _ in range(8):
            session = self.live.get(random.choice(keys))
            if session and not session.busy and not session.is_doubtful:
                if not needs_token or session.token_until > now + 5:
                    return session
        return None

    def keys(self):
        # A list of the keys is made again only when enough has changed.
        if not hasattr(self, "_keys") or random.random() < 0.01 or not self._keys:
            self._keys = list(self.live)
        return self._keys


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
