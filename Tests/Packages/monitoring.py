"""Loads the alert rules and every query of the dashboard into a real Prometheus that scrapes a real gateway.

    python3 monitoring.py HOST:PORT       (of the gateway's admin listener)

Prints `ok`, or what is wrong, with status 1.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RULES = os.path.join(ROOT, "deploy", "prometheus", "gatehouse.rules.yml")
DASHBOARD = os.path.join(ROOT, "deploy", "grafana", "gatehouse.json")
METRIC = re.compile(r"\b(?:gatehouse|process)_[a-z_]+\b")


def fetch(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def wait_for(what, seconds, ready, log):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            found = ready()
            if found:
                return found
        except OSError:
            pass
        time.sleep(0.2)
    log.seek(0)
    sys.exit("%s did not happen within %d s: %s" % (what, seconds, log.read()[-2000:]))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def rule_texts():
    with open(RULES) as file:
        text = file.read()
    # Every name in the file, annotations included, must be one that exists.
    return re.sub(r"(?m)^\s*#.*$", "", text)


def dashboard_queries():
    with open(DASHBOARD) as file:
        dashboard = json.load(file)
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    variables = [v["query"]["query"] for v in dashboard["templating"]["list"] if v["type"] == "query"]
    return queries, variables


def families(exposition):
    """The names that a text may use: a histogram has three besides its own."""
    names = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", exposition, re.M):
        names |= {name + end for end in ("", "_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return names


def check_names(exposition, texts):
    known = families(exposition)
    unknown = sorted({name for text in texts for name in METRIC.findall(text)} - known)
    if unknown:
        sys.exit("no such metric: " + ", ".join(unknown))


def main(admin):
    queries, variables = dashboard_queries()
    check_names(fetch("http://%s/metrics" % admin), [rule_texts()] + queries + variables)
    port = free_port()
    with tempfile.TemporaryDirectory() as place:
        configuration = os.path.join(place, "prometheus.yml")
        with open(configuration, "w") as file:
            json.dump(
                {
                    "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                    "rule_files": [os.path.abspath(RULES)],
                    "scrape_configs": [{"job_name": "gatehouse", "static_configs": [{"targets": [admin]}]}],
                },
                file,
            )
        with open(os.path.join(place, "log"), "w+") as log:
            prometheus = subprocess.Popen(
                [
                    "prometheus", "--config.file", configuration, "--storage.tsdb.path", os.path.join(place, "data"),
                    "--web.listen-address", "127.0.0.1:%d" % port, "--log.level", "warn",
                ],
                stdout=log, stderr=log,
            )
            try:
                check(prometheus, "http://127.0.0.1:%d" % port, queries, log)
            finally:
                prometheus.terminate()
                prometheus.wait()
    print("ok")


def check(prometheus, origin, queries, log):
    def data(path, **query):
        if prometheus.poll() is not None:
            log.seek(0)
            sys.exit("Prometheus ended: " + log.read()[-2000:])
        return json.loads(fetch("%s/api/v1/%s?%s" % (origin, path, urllib.parse.urlencode(query))))["data"]

    def scraped():
        # There is no target until the configuration has been taken, and on a busy machine its first scrape may time out.
        for target in data("targets")["activeTargets"]:
            if target["health"] == "up":
                return True
            print(target["lastError"], file=log, flush=True)
        return False

    wait_for("a scrape", 120, scraped, log)
    rules = wait_for("an evaluation of all rules", 120, lambda: evaluated(data("rules")), log)
    for rule in rules:
        if rule["health"] != "ok":
            sys.exit("%s: %s" % (rule["name"], rule.get("lastError")))
    for query in queries:
        for name, value in (("$__rate_interval", "5m"), ("$instance", ".*"), ("$route", ".*")):
            query = query.replace(name, value)
        try:
            data("query", query=query)
        except urllib.error.HTTPError as error:
            sys.exit("%s: %s" % (query, error.read().decode()))


def evaluated(answer):
    rules = [rule for group in answer["groups"] for rule in group["rules"]]
    return rules if rules and all(rule["health"] != "unknown" for rule in rules) else None


if __name__ == "__main__":
    main(sys.argv[1])
