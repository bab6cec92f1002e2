"""Runs the code that docs/webhooks.md shows on events: one token a line on standard input, one object of claims a line on
standard output, or `refused: REASON`.

    python3 webhook_example.py docs/webhooks.md ISSUER URL
"""

import json
import sys


def main():
    page, issuer, url = sys.argv[1:4]
    with open(page) as file:
        code = file.read().split("```python\n")[1].split("\n```")[0]
    example = {}
    exec(code, example)
    for line in sys.stdin:
        try:
            print(json.dumps(example["read_event"](line.strip(), issuer, url)))
        except Exception as error:
            print(f"refused: {type(error).__name__}")


main()
