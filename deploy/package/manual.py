"""Writes the manual page from what the program says of itself.

    gatehouse --experimental-dump-help | python3 manual.py VERSION >gatehouse.1

So the page names the commands and options that exist, and no others.
"""

import json
import sys


def roff(text):
    """Text that roff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def spelled(argument):
    """How an argument is written: `--config <file>`, `-h, --help`, `FILE`."""
    names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument.get("names", [])]
    value = argument.get("valueName", "")
    if argument["kind"] == "positional":
        return value.upper()
    shown = ", ".join(sorted(names, key=len))
    return shown + (" <%s>" % value if argument["kind"] == "option" else "")


def synopsis(argument):
    text = spelled(argument)
    if argument.get("isRepeating"):
        text += "…"
    return "[%s]" % text if argument.get("isOptional") else text


def arguments_of(command):
    shown = [a for a in command.get("arguments", []) if a.get("shouldDisplay", True)]
    # Every command has --help, and the program --version: they are told of once.
    return [a for a in shown if a.get("valueName") not in ("help", "version")]


def section(command, path, out):
    name = " ".join(path + [command["commandName"]])
    subcommands = [c for c in command.get("subcommands", []) if c["commandName"] != "help"]
    if not subcommands:
        arguments = arguments_of(command)
        out.append(".SS " + roff(" ".join([name] + [synopsis(a) for a in arguments])))
        out.append(roff(command.get("abstract", "")))
        if command.get("discussion"):
            out += [".PP", roff(command["discussion"])]
        for argument in arguments:
            out += [".TP", ".B " + roff(spelled(argument)), roff(argument.get("abstract", "") or "See above.")]
            if argument.get("defaultValue"):
                out.append("Default: %s." % roff(argument["defaultValue"]))
    for subcommand in subcommands:
        section(subcommand, path + [command["commandName"]], out)


def page(root, version):
    out = [
        '.TH GATEHOUSE 1 "" "gatehouse %s" "User Commands"' % roff(version),
        ".SH NAME",
        "gatehouse \\- " + roff(root["abstract"].rstrip(".")),
        ".SH SYNOPSIS",
        ".B gatehouse",
        "COMMAND [OPTION]...",
        ".PP",
        ".B gatehouse",
        "\\-\\-version | \\-\\-help | help COMMAND",
        ".SH COMMANDS",
    ]
    for command in root["subcommands"]:
        if command["commandName"] != "help":
            section(command, [], out)
    out += [
        ".SH ENVIRONMENT",
        "GATEHOUSE_CONFIG has the effect of \\-\\-config. Each scalar key of the configuration has a variable:",
        "tokens.clock_skew is GATEHOUSE_TOKENS_CLOCK_SKEW.",
        ".SH FILES",
        ".TP",
        ".I config/gatehouse.yaml",
        "The configuration, if \\-\\-config names no other.",
        ".TP",
        ".I /etc/gatehouse/gatehouse.yaml",
        "The configuration of the installed service.",
        ".SH EXIT STATUS",
        "0: done. 1: the command was used correctly, and failed. 2: wrong usage, or a configuration that cannot be",
        "used. gatehouse attack has statuses of its own, which its help describes.",
    ]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page(json.load(sys.stdin)["command"], sys.argv[1]))
