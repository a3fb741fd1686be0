"""schemathesis against a running server: with the checkout's token, and where none is asked for.

Run as `api.py BINARY`.
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import anyio

import places
from checks import expect

HERE = Path(__file__).parent
SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")


@contextmanager
def serving(place, binary, *words):
    """A server without a client, which ends with its input; gives its address, and, once it has ended, what it said."""
    said = []
    with tempfile.TemporaryFile("w+") as log:
        with subprocess.Popen(
            [binary, "serve", "--conformance", *words],
            cwd=place.root,
            env=place.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
        ) as process:
            try:
                yield anyio.run(place.ready)["url"].rstrip("/"), said
                expect(process.poll() is None, "the server did not outlive its callers:", process.returncode)
            finally:
                process.stdin.close()
                try:
                    process.wait(timeout=10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
                finally:
                    log.seek(0)
                    said.append(log.read())


def post(url, token, what=None):
    request = urllib.request.Request(url, method="POST", data=json.dumps(what).encode() if what else None)
    request.add_header("Authorization", f"Bearer {token}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def page_token(url, token):
    """Signs a page in, as a browser is."""
    code = post(f"{url}/api/v1/sign-in/codes", token)["code"]
    return post(f"{url}/api/v1/sign-in", token, {"code": code})["token"]


def judged(url, folder, token, *headers):
    """Lets schemathesis ask everything, and fails with what it found."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "NO_PROXY": "127.0.0.1",
        "PAGE_TOKEN": page_token(url, token),
    }
    ended = subprocess.run(
        [SCHEMATHESIS, "--config-file", HERE / "schemathesis.toml", "--no-color", "run", f"{url}/openapi.json", *headers],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        timeout=180,
    )
    expect(ended.returncode == 0, "schemathesis ended with", ended.returncode)


def main():
    (binary,) = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="outside") as base:
        (place, _, _), _ = places.make(Path(base).resolve())
        for auth in ("token", "off"):
            with serving(place, binary, "--auth", auth) as (url, said):
                token = place.token()
                headers = ["-H", f"Authorization: Bearer {token}"] if auth == "token" else []
                judged(url, place.home, token, *headers)
            expect("panic" not in said[0], "something panicked:", said[0])
            print(f"ok - what the document says holds under --auth {auth}", flush=True)


main()
