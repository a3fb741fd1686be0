"""Writes to a store as mnemon does, at random, until it is told to stop: a connection a write, and no waiting for a lock.

Called with the store, a seed and the file to report to. Reports what it counted for each insight, what it forgot, and how
often it was refused.
"""

import json
import random
import signal
import sqlite3
import sys
import threading
import uuid

NOW = "strftime('%Y-%m-%dT%H:%M:%SZ','now')"


def once(store, statements):
    """Writes in one transaction; says whether the store took it."""
    database = sqlite3.connect(store, timeout=0, isolation_level=None)
    try:
        database.execute("PRAGMA foreign_keys=ON")
        database.execute("BEGIN IMMEDIATE")
        for statement, values in statements:
            database.execute(statement, values)
        database.execute("COMMIT")
        return True
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        return False
    finally:
        database.close()


def alive(store):
    database = sqlite3.connect(store, timeout=5)
    try:
        return [row[0] for row in database.execute("SELECT id FROM insights WHERE deleted_at IS NULL ORDER BY id")]
    finally:
        database.close()


def log(operation, insight):
    return (f"INSERT INTO oplog(operation, insight_id, created_at) VALUES(?,?,{NOW})", (operation, insight))


def remember(chance, _ids, _report):
    insight = str(uuid.UUID(int=chance.getrandbits(128)))
    embedding = chance.randbytes(3072)
    return [
        (
            f"INSERT INTO insights(id, content, created_at, updated_at, embedding) VALUES(?,?,{NOW},{NOW},?)",
            (insight, f"what was learnt: {insight}", embedding),
        ),
        log("remember", insight),
    ], lambda: None


def recall(chance, ids, report):
    found = chance.sample(ids, min(3, len(ids)))

    def count():
        for insight in found:
            report["counted"][insight] = report["counted"].get(insight, 0) + 1

    read = f"UPDATE insights SET access_count=access_count+1, last_accessed_at={NOW} WHERE id=?"
    return [(read, (insight,)) for insight in found] + [log("recall", found[0])], count


def link(chance, ids, _report):
    one, other = chance.choice(ids), chance.choice(ids)
    insert = f"INSERT OR REPLACE INTO edges VALUES(?,?,'semantic',?,'{{}}',{NOW})"
    # Both may be gone by now, as far as the store's keys are concerned they are not.
    return [(insert, (one, other, chance.random())), (insert, (other, one, chance.random())), log("link", one)], lambda: None


def unlink(chance, ids, _report):
    insight = chance.choice(ids)
    return [("DELETE FROM edges WHERE source_id=?", (insight,)), log("link", insight)], lambda: None


def derive(chance, ids, _report):
    insight = chance.choice(ids)
    entities = json.dumps([chance.choice(["parser", "board", "lease"])])
    return [(f"UPDATE insights SET entities=?, updated_at={NOW} WHERE id=?", (entities, insight)), log("embed", insight)], lambda: None


def forget(chance, ids, report):
    insight = chance.choice(ids)
    return [
        (f"UPDATE insights SET deleted_at={NOW}, updated_at={NOW} WHERE id=? AND deleted_at IS NULL", (insight,)),
        ("DELETE FROM edges WHERE source_id=? OR target_id=?", (insight, insight)),
        log("forget", insight),
    ], lambda: report["forgotten"].append(insight)


CHOICES = [remember] * 5 + [recall] * 8 + [link] * 4 + [unlink, derive, derive, forget]


def main():
    store, seed, path = sys.argv[1:]
    chance = random.Random(int(seed))
    report = {"counted": {}, "forgotten": [], "written": 0, "refused": 0}
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    while not stopped.is_set():
        ids = alive(store)
        write = chance.choice(CHOICES) if ids else remember
        statements, done = write(chance, ids, report)
        while not once(store, statements):
            report["refused"] += 1
            stopped.wait(0.01)
        done()
        report["written"] += 1
        stopped.wait(chance.uniform(0, 0.1))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(report, file)


main()
