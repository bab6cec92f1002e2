"""Streaming answers over HTTP/2, and when they end: at expiry, after a refresh, at logout, or not at all.

Usage: http2_leases.py PORT EMAIL PASSWORD OTHER_EMAIL OTHER_PASSWORD. Prints one JSON object: of each stream how it
ended and how many seconds after which moment.
"""

import base64
import json
import sys
import time

import h2.events

from http2_client import Connection, get


def claims(token):
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))


def expiry(token):
    return claims(token)["exp"]


class Stream:
    """One answer that does not end by itself, or takes its time."""

    def __init__(self, connection, path, user):
        self.connection = connection
        self.stream = connection.request(get("GET", path, ("authorization", "Bearer " + user["access_token"])), ends=True)

    def begin(self):
        status, _ = self.connection.status(self.stream)
        assert status == 200, status
        self.connection.next(self.stream, h2.events.DataReceived)

    def end(self):
        event = self.connection.next(self.stream, (h2.events.StreamEnded, h2.events.StreamReset))
        how = "end" if isinstance(event, h2.events.StreamEnded) else "reset %d" % event.error_code
        return how, event.seen_at


def main():
    found = {}
    connection = Connection()
    ada, bob = (connection.login(*sys.argv[index:index + 2]) for index in (2, 4))
    paths = ["/events/events", "/leased/long", "/leased/events"]
    expiring = {path: Stream(connection, path, bob) for path in paths}
    extended = {path: Stream(connection, path, ada) for path in paths}
    finished = Stream(connection, "/events/long", bob)
    for stream in [*expiring.values(), *extended.values(), finished]:
        stream.begin()
    # Expiry is told in whole seconds: only a refresh in a later one moves it.
    time.sleep(max(0, claims(ada["access_token"])["iat"] + 1.1 - time.time()))
    status, fresh = connection.post("/api/auth/refresh", {"refresh_token": ada["refresh_token"]})
    assert status == 200, fresh
    # Another session of the same user, ended by a logout long before anything expires.
    other = connection.login(*sys.argv[2:4])
    left = {path: Stream(connection, path, other) for path in paths}
    for stream in left.values():
        stream.begin()
    status, _ = connection.post("/api/auth/logout", {}, ("authorization", "Bearer " + other["access_token"]))
    moment = time.time()
    found["logout_status"] = status
    found["logout"] = {path: told(stream, moment) for path, stream in left.items()}
    found["expired"] = {path: told(stream, expiry(bob["access_token"])) for path, stream in expiring.items()}
    found["finished"] = finished.end()[0]
    found["refreshed_by"] = expiry(fresh["access_token"]) - expiry(ada["access_token"])
    found["refreshed"] = {path: told(stream, expiry(fresh["access_token"])) for path, stream in extended.items()}
    print(json.dumps(found))


def told(stream, moment):
    how, when = stream.end()
    return [how, when - moment]


main()
