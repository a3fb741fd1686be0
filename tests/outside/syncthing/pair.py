"""Two machines, each with a live store, a Syncthing and two writers; afterwards both stores are equal and nothing is lost."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).parent
BINARY = os.environ["BINARY"]
# How long the writers write, in seconds, and how long both may take to agree afterwards.
WRITING = float(os.environ.get("SECONDS_OF_WRITING", "120"))
BOUND = 180
SEED = int(os.environ.get("SEED", "7"))
TABLES = """PRAGMA journal_mode=WAL; PRAGMA user_version=1;
CREATE TABLE insights(id TEXT PRIMARY KEY, content TEXT NOT NULL, category TEXT DEFAULT 'general',
  importance INTEGER DEFAULT 3, tags TEXT DEFAULT '[]', entities TEXT DEFAULT '[]', source TEXT DEFAULT 'user',
  access_count INTEGER DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, deleted_at TEXT,
  last_accessed_at TEXT, embedding BLOB, effective_importance REAL DEFAULT 0.5);
CREATE TABLE edges(source_id TEXT NOT NULL, target_id TEXT NOT NULL,
  edge_type TEXT NOT NULL CHECK(edge_type IN ('temporal','semantic','causal','entity','supersedes')),
  weight REAL DEFAULT 1.0, metadata TEXT DEFAULT '{}', created_at TEXT NOT NULL,
  PRIMARY KEY(source_id,target_id,edge_type),
  FOREIGN KEY(source_id) REFERENCES insights(id) ON DELETE CASCADE,
  FOREIGN KEY(target_id) REFERENCES insights(id) ON DELETE CASCADE);
CREATE TABLE oplog(id INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT NOT NULL, insight_id TEXT,
  detail TEXT DEFAULT '', created_at TEXT NOT NULL);"""
# What is the same on both machines afterwards.
INSIGHTS = """SELECT id, content, category, importance, tags, entities, source, access_count, created_at, updated_at,
  deleted_at, last_accessed_at, hex(embedding) FROM insights ORDER BY id"""
EDGES = "SELECT source_id, target_id, edge_type, weight, metadata, created_at FROM edges ORDER BY 1, 2, 3"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Machine:
    def __init__(self, folder, name):
        self.home = folder / name
        self.carried = self.home / "carried"
        self.settings = self.home / "syncthing"
        self.store = self.home / ".mnemon/data/default/mnemon.db"
        self.store.parent.mkdir(parents=True)
        self.carried.mkdir()
        with contextlib.closing(sqlite3.connect(self.store)) as database:
            database.executescript(TABLES)
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "MNEMON_SYNC_DIR": str(self.carried)}
        self.port = free_port()
        self.processes = []
        self.syncthing("generate", "--no-default-folder")
        self.device = self.syncthing("--device-id").strip()

    def syncthing(self, *arguments):
        command = ["syncthing", *arguments, f"--home={self.settings}"]
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout

    def configure(self, other):
        """Knows this one other machine, one folder, and no address but 127.0.0.1."""
        path = self.settings / "config.xml"
        tree = xml.parse(path)
        root = tree.getroot()
        options = root.find("options")
        listen = options.findall("listenAddress")
        for address in listen[1:]:
            options.remove(address)
        listen[0].text = f"tcp://127.0.0.1:{self.port}"
        for key in ["globalAnnounceEnabled", "localAnnounceEnabled", "relaysEnabled", "natEnabled", "crashReportingEnabled"]:
            options.find(key).text = "false"
        options.find("urAccepted").text = "-1"
        options.find("reconnectionIntervalS").text = "1"
        root.find("gui/address").text = f"127.0.0.1:{free_port()}"
        for device in root.findall("device"):
            if device.get("id") != self.device:
                root.remove(device)
        device = xml.SubElement(root, "device", id=other.device, name="other", compression="never")
        xml.SubElement(device, "address").text = f"tcp://127.0.0.1:{other.port}"
        attributes = {"id": "stores", "path": str(self.carried), "type": "sendreceive", "rescanIntervalS": "10",
                      "fsWatcherEnabled": "true", "fsWatcherDelayS": "1"}
        folder = xml.SubElement(root, "folder", attributes)
        for known in (self.device, other.device):
            xml.SubElement(folder, "device", id=known)
        tree.write(path)

    def start(self, name, command):
        log = open(self.home / f"{name}.log", "w", encoding="utf-8")
        process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def majordomus(self, *arguments):
        command = [BINARY, "store", *arguments, "--json"]
        done = subprocess.run(command, env=self.environment, cwd=self.home, capture_output=True, text=True)
        if done.returncode not in (0, 1) or not done.stdout:
            raise SystemExit(f"{arguments}: {done.stderr}")
        return json.loads(done.stdout)

    def dump(self):
        with contextlib.closing(sqlite3.connect(self.store, timeout=5)) as database:
            return [database.execute(query).fetchall() for query in (INSIGHTS, EDGES)]

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()


def main():
    folder = pathlib.Path(sys.argv[1])
    machines = []
    try:
        machines = [Machine(folder, name) for name in ("one", "two")]
        run(machines)
    finally:
        for machine in machines:
            machine.stop()


def difference(ours, theirs):
    """The rows that only one of the two machines has, without their embeddings."""
    told = []
    for own, other in zip(ours, theirs):
        told += [f"one: {row[:12]}" for row in own if row not in other]
        told += [f"two: {row[:12]}" for row in other if row not in own]
    return "\n".join(told)


def run(machines):
    one, two = machines
    one.configure(two)
    two.configure(one)
    for machine in machines:
        machine.start("syncthing", ["syncthing", "serve", "--no-browser", "--no-restart", f"--home={machine.settings}"])
        machine.majordomus("enable", "default")
    writers = []
    for number, machine in enumerate([one, one, two, two]):
        report = machine.home / f"report-{number}"
        command = [sys.executable, HERE / "writer.py", machine.store, str(SEED * 10 + number), report]
        writers.append((machine.start(f"writer-{number}", command), report))
    end = time.monotonic() + WRITING
    syncs = 0
    while time.monotonic() < end:
        for machine in machines:
            told = machine.majordomus("sync")["stores"][0]
            syncs += 1
            others = [trouble for trouble in told["troubles"] if "changes all the time" not in trouble]
            assert not others, others
        assert all(process.poll() is None for process, _ in writers), "a writer ended by itself"
        time.sleep(0.5)
    for process, _ in writers:
        process.send_signal(signal.SIGTERM)
    for process, _ in writers:
        assert process.wait(30) == 0, "a writer failed"
    reports = [json.loads(report.read_text(encoding="utf-8")) for _, report in writers]

    end = time.monotonic() + BOUND
    while True:
        for machine in machines:
            machine.majordomus("sync")
        digests = {machine.majordomus("verify")["stores"][0]["digest"] for machine in machines}
        if len(digests) == 1 and one.dump() == two.dump():
            break
        assert time.monotonic() < end, f"the stores do not agree: {digests}\n{difference(one.dump(), two.dump())}"
        time.sleep(1)

    insights, edges = one.dump()
    counts = {row[0]: row[7] for row in insights}
    expected = dict.fromkeys(counts, 0)
    for report in reports:
        for insight, count in report["counted"].items():
            expected[insight] += count
    wrong = {key: (counts[key], expected[key]) for key in counts if counts[key] != expected[key]}
    assert not wrong, f"counts are not exact: {wrong}"
    alive = {row[0] for row in insights if row[10] is None}
    forgotten = {insight for report in reports for insight in report["forgotten"]}
    assert not alive & forgotten, f"a forget was lost: {alive & forgotten}"
    assert {row[0] for row in insights} - alive == forgotten, "something was forgotten by itself"
    conflicts = [str(path) for path in one.carried.rglob("*.sync-conflict-*")]
    assert not conflicts, conflicts
    written = sum(report["written"] for report in reports)
    refused = sum(report["refused"] for report in reports)
    share = 100 * refused / (written + refused)
    print(
        f"{WRITING:.0f} s, seed {SEED}: {written} writes of 4 processes, {refused} refused at first ({share:.1f} %); "
        f"{syncs} syncs; both have {len(insights)} insights ({len(forgotten)} forgotten), {len(edges)} edges, "
        f"{sum(counts.values())} counted"
    )


main()
