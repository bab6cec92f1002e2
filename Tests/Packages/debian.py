"""Installs, upgrades, removes and purges the Debian package on a copy of this machine's files, and starts its service.

    python3 debian.py GATEHOUSE_BINARY

The copy is an overlay that is gone afterwards, in namespaces of its own for mounts and the network, which takes root.
Prints `ok`, or what is wrong with status 1, or why nothing can be tried with status 77.
"""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
SKIPPED = 77

# Runs in namespaces of its own: what it mounts ends with it.
INSIDE = """
set -eu
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/copy"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/copy" || exit 77
mount --rbind /dev "$1/copy/dev"
mount -t proc proc "$1/copy/proc"
mount -t tmpfs tmpfs "$1/copy/tmp"
mount -t tmpfs tmpfs "$1/copy/run"
mkdir "$1/copy/packages"
mount --bind "$2" "$1/copy/packages"
cp "$3/Tests/Packages/installed" "$1/copy/installed"
ip link set lo up 2>/dev/null || python3 -c 'import fcntl, socket, struct
s = socket.socket(); fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))'
chroot "$1/copy" /bin/sh /installed /packages
"""


def package(binary, version, place):
    environment = dict(
        os.environ, GATEHOUSE_BINARY=binary, DEB_VERSION=version, DIST=place, DEB_COMPRESSION="none",
    )
    made = subprocess.run(
        [os.path.join(ROOT, "deploy", "package", "deb")], env=environment, capture_output=True, text=True
    )
    if made.returncode:
        sys.exit("deb: " + made.stderr)
    return os.path.join(place, made.stdout.strip().split("/")[-1])


def main(binary):
    if os.geteuid() != 0:
        print("not root")
        sys.exit(SKIPPED)
    probe = subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], capture_output=True)
    if probe.returncode:
        print("no namespaces")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as place:
        packages = os.path.join(place, "packages")
        os.mkdir(packages)
        mounts = os.path.join(place, "mounts")
        os.mkdir(mounts)
        os.rename(package(binary, "1.0", packages), os.path.join(packages, "old.deb"))
        os.rename(package(binary, "1.1", packages), os.path.join(packages, "new.deb"))
        done = subprocess.run(
            # What still runs in the namespace of processes ends with its first one.
            ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh", "-c", INSIDE, "sh", mounts, packages,
             ROOT],
            capture_output=True, text=True, timeout=480,
        )
    if done.returncode == SKIPPED:
        print("no overlay file system")
        sys.exit(SKIPPED)
    if done.returncode:
        sys.exit("status %d\n%s\n%s" % (done.returncode, done.stdout[-4000:], done.stderr[-4000:]))
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1])
