//! What the made-up team writes down, and how it is asked for.

/// One subject. `{c}` is a part, `{q}` a circumstance, `{n}` a number.
pub(super) struct Subject {
    /// The words of its identifiers.
    pub(super) noun: [&'static str; 2],
    /// A note's title.
    pub(super) says: &'static str,
    /// A question in the same words, inflected.
    pub(super) near: &'static str,
    /// A question in other words, of which some are related.
    pub(super) far: &'static str,
    /// Title and question in German.
    pub(super) german: Option<(&'static str, &'static str)>,
    /// Title and question in Japanese.
    pub(super) japanese: Option<(&'static str, &'static str)>,
}

const fn subject(
    noun: [&'static str; 2],
    says: &'static str,
    near: &'static str,
    far: &'static str,
) -> Subject {
    Subject {
        noun,
        says,
        near,
        far,
        german: None,
        japanese: None,
    }
}

impl Subject {
    /// Adds title and question in other languages.
    const fn told(
        self,
        german: (&'static str, &'static str),
        japanese: Option<(&'static str, &'static str)>,
    ) -> Self {
        Self {
            german: Some(german),
            japanese,
            ..self
        }
    }
}

/// The subjects.
pub(super) const SUBJECTS: [Subject; 28] = [
    subject(
        ["request", "timeout"],
        "Requests of the {c} time out after {n} seconds for {q}",
        "when does a {c} request time out for {q}?",
        "how long may a call to the {c} take for {q} before the timeout",
    )
    .told(
        (
            "Anfragen an {c} laufen für {q} nach {n} Sekunden ab",
            "Wann läuft eine Anfrage an {c} für {q} ab?",
        ),
        Some((
            "{q}の{c}は{n}秒で時間切れになる",
            "{q}の{c}の時間切れは何秒か",
        )),
    ),
    subject(
        ["retry", "limit"],
        "The {c} retries {n} times for {q}",
        "how often does the {c} retry for {q}?",
        "how many attempts of the {c} for {q} are retried",
    )
    .told(
        (
            "Der Dienst {c} wiederholt für {q} höchstens {n} Mal",
            "Wie oft wiederholt {c} die Versuche für {q}?",
        ),
        Some((
            "{q}の{c}は{n}回まで再試行する",
            "{q}の{c}の再試行は何回までか",
        )),
    ),
    subject(
        ["cache", "lifetime"],
        "The cache of the {c} lives {n} minutes for {q}",
        "how long do caches of the {c} live for {q}?",
        "when are cached answers of the {c} dropped for {q}",
    )
    .told(
        (
            "Der Zwischenspeicher von {c} hält für {q} {n} Minuten",
            "Wie lange halten Zwischenspeicher von {c} für {q}?",
        ),
        None,
    ),
    subject(
        ["deploy", "window"],
        "We deploy the {c} on Thursdays for {q}",
        "on which days are deploys of the {c} for {q}?",
        "when may I release the {c} to {q}: is there a deploy window",
    )
    .told(
        (
            "{c} wird für {q} donnerstags ausgeliefert",
            "An welchen Tagen liefern wir {c} für {q} aus?",
        ),
        Some(("{q}の{c}は木曜日に配備する", "{q}の{c}を配備する曜日")),
    ),
    subject(
        ["queue", "depth"],
        "The queue of the {c} holds {n} jobs for {q}",
        "how many jobs are held in {c} queues for {q}?",
        "what is the greatest depth of the {c} queue for {q}",
    )
    .told(
        (
            "Die Warteschlange von {c} fasst für {q} {n} Aufträge",
            "Wie viele Aufträge fassen Warteschlangen von {c} für {q}?",
        ),
        Some((
            "{q}の{c}の待ち行列は{n}件まで",
            "{q}の{c}の待ち行列は何件か",
        )),
    ),
    subject(
        ["error", "budget"],
        "Errors of the {c} are budgeted at {n} a week for {q}",
        "what is the error budget of the {c} for {q}?",
        "how many {c} failures or errors are allowed for {q}",
    )
    .told(
        (
            "Fehler von {c} sind für {q} auf {n} je Woche begrenzt",
            "Welche Grenze gilt für Fehler von {c} bei {q}?",
        ),
        None,
    ),
    subject(
        ["database", "vacuum"],
        "The database of the {c} is vacuumed at {n} o'clock for {q}",
        "when are {c} databases vacuumed for {q}?",
        "at what time of day is the vacuum of the {c} tables for {q}",
    )
    .told(
        (
            "Die Datenbank von {c} wird für {q} um {n} Uhr aufgeräumt",
            "Wann werden Datenbanken von {c} für {q} aufgeräumt?",
        ),
        None,
    ),
    subject(
        ["token", "rotation"],
        "Tokens of the {c} rotate every {n} days for {q}",
        "how often is a {c} token rotated for {q}?",
        "when does the credential of the {c} for {q} change, what is its rotation",
    )
    .told(
        (
            "Schlüssel von {c} wechseln für {q} alle {n} Tage",
            "Wie oft wechselt der Schlüssel von {c} für {q}?",
        ),
        Some((
            "{q}の{c}の鍵は{n}日ごとに更新する",
            "{q}の{c}の鍵の更新は何日ごとか",
        )),
    ),
    subject(
        ["feature", "flag"],
        "The flag {n} hides the new {c} from {q}",
        "which flags hide the {c} from {q}?",
        "how is the {c} switched off by a flag for {q}",
    ),
    subject(
        ["log", "retention"],
        "Logs of the {c} are retained for {n} days for {q}",
        "how long is a log of the {c} retained for {q}?",
        "when are old {c} logs deleted for {q}",
    ),
    subject(
        ["memory", "ceiling"],
        "The {c} is killed above {n} megabytes of memory for {q}",
        "above how many megabytes are {c} processes killed for {q}?",
        "what is the memory ceiling of the {c} for {q}",
    ),
    subject(
        ["upload", "size"],
        "Uploads to the {c} are at most {n} megabytes for {q}",
        "how large is an upload to the {c} for {q}?",
        "what is the greatest file size to upload to the {c} for {q}",
    ),
    subject(
        ["rate", "throttle"],
        "The {c} throttles clients at {n} calls a second for {q}",
        "at which rate are clients of the {c} throttled for {q}?",
        "how fast may one client call the {c} for {q}",
    ),
    subject(
        ["test", "flakiness"],
        "The tests of the {c} are flaky for {q} because of port {n}",
        "why is a test of the {c} flaky for {q}?",
        "what makes {c} tests fail now and then for {q}",
    ),
    subject(
        ["schema", "migration"],
        "Migration {n} of the {c} locks the table for {q}",
        "which migrations of the {c} lock a table for {q}?",
        "what happens to the {c} table for {q} while it is migrated",
    ),
    subject(
        ["backup", "restore"],
        "Backups of the {c} are restored in {n} minutes for {q}",
        "how long does restoring a backup of the {c} take for {q}?",
        "how quickly is the {c} recovered from its backup for {q}",
    ),
    subject(
        ["owner", "rota"],
        "Team {n} owns the {c} for {q}",
        "which team is the owner of the {c} for {q}?",
        "who is responsible for the {c} of {q}, which team",
    ),
    subject(
        ["currency", "rounding"],
        "Amounts in the {c} are rounded to {n} digits for {q}",
        "how is an amount rounded in the {c} for {q}?",
        "how many digits do sums of the {c} have for {q} after rounding",
    ),
    subject(
        ["locale", "fallback"],
        "The {c} falls back to locale {n} for {q}",
        "to which locales does the {c} fall back for {q}?",
        "what locale is the default of the {c} for {q}",
    ),
    subject(
        ["certificate", "renewal"],
        "Certificates of the {c} are renewed {n} days before they expire for {q}",
        "when is a certificate of the {c} renewed for {q}?",
        "who renews {c} certificates for {q} and how early",
    ),
    subject(
        ["shard", "count"],
        "The {c} has {n} shards for {q}",
        "how many shards has the {c} for {q}?",
        "into how many pieces or shards is the {c} split for {q}",
    ),
    subject(
        ["health", "probe"],
        "The probe of the {c} runs every {n} seconds for {q}",
        "how often are {c} probes run for {q}?",
        "how is the health of the {c} probed for {q}",
    ),
    subject(
        ["message", "ordering"],
        "Messages of the {c} are ordered by column {n} for {q}",
        "by what is a message of the {c} ordered for {q}?",
        "in which order do {c} messages arrive for {q}",
    ),
    subject(
        ["image", "compression"],
        "Images in the {c} are compressed to quality {n} for {q}",
        "to which quality is an image of the {c} compressed for {q}?",
        "how strong is the compression of {c} pictures for {q}",
    ),
    subject(
        ["seed", "fixture"],
        "Fixture {n} seeds the {c} for {q}",
        "which fixtures seed the {c} for {q}?",
        "where does the test data of the {c} for {q} come from, which fixture",
    ),
    subject(
        ["thread", "pool"],
        "The {c} has a pool of {n} threads for {q}",
        "how many threads are in the {c} pool for {q}?",
        "how parallel is the {c} for {q}: size of its thread pool",
    ),
    subject(
        ["alert", "threshold"],
        "Alerts of the {c} fire above {n} percent for {q}",
        "above which percentage does an alert of the {c} fire for {q}?",
        "what is the alerting threshold of the {c} for {q}",
    ),
    subject(
        ["price", "discount"],
        "Prices in the {c} are discounted by {n} percent for {q}",
        "by how much is a price of the {c} discounted for {q}?",
        "how many percent cheaper is the {c} for {q}, what discount",
    ),
];
