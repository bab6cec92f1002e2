"""Judges reports of `gatehouse attack` as other people's tools do: `judge_reports.py SARIF JUNIT`. Prints JSON."""

import json
import sys
import xml.etree.ElementTree

# Made from the schema of the standard by its authors' generator; unknown members are errors.
from pydantic_sarif.model import StaticAnalysisResultsFormatSarifVersion210JsonSchema as Sarif

with open(sys.argv[1]) as file:
    text = file.read()
sarif = Sarif.model_validate_json(text)
run = sarif.runs[0]
rules = [rule.id for rule in run.tool.driver.rules]
# The control: a report that the standard does not allow is refused.
broken = json.loads(text)
broken["runs"][0]["results"][0]["level"] = "terrible"
try:
    Sarif.model_validate(broken)
    refuses = False
except ValueError:
    refuses = True

suite = xml.etree.ElementTree.parse(sys.argv[2]).getroot()
print(json.dumps({
    "version": json.loads(text)["version"], "refuses": refuses,
    "results": len(run.results),
    "rules": all(rules[result.ruleIndex] == result.ruleId for result in run.results),
    "junit_failures": len(suite.findall("testcase/failure")), "junit_said": int(suite.get("failures")),
    "junit_cases": len(suite.findall("testcase")), "junit_tests": int(suite.get("tests")),
}))
