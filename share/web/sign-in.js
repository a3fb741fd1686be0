// How a page of this server gets its token, keeps it and renews it.
//
// The link that opened the page carries a code in its fragment: `#code=…`. It is good once, so it is taken out of the
// address and of the history before anything else, and traded for a token of this page's own. The token stands in
// sessionStorage: it goes with the tab, and unlike a cookie it is not sent to other ports of this machine.

const KEY = "majordomus.page";

/** Signs in with the code in the address, if there is one. Returns the error for people, or null. */
export async function signIn() {
  const code = takeCode();
  if (code === null) {
    return null;
  }
  const response = await fetch("/api/v1/sign-in", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code }),
  });
  if (response.ok) {
    keep(await response.json());
    return null;
  }
  const problem = await response.json().catch(() => ({}));
  return problem.detail ?? `the server answered ${response.status}`;
}

/** The token of this page, or null without one that still lives. */
export function token() {
  const kept = read();
  return kept !== null && kept.until > Date.now() ? kept.token : null;
}

/** Whether this server asks for a token at all. */
export async function wantsToken() {
  const lease = await (await fetch("/lease")).json();
  return lease.auth !== "off";
}

/** Renews the token at half of its life, for as long as the page is open. */
export function renewInTime() {
  const kept = read();
  if (kept === null) {
    return;
  }
  const half = Math.max((kept.until - Date.now()) / 2, 1000);
  setTimeout(async () => {
    const current = token();
    if (current === null) {
      return;
    }
    const response = await fetch("/api/v1/sign-in/renew", {
      method: "POST",
      headers: { Authorization: `Bearer ${current}` },
    }).catch(() => null);
    if (response?.ok) {
      keep(await response.json());
    }
    // A server that is away for the moment comes back; a sign-in that is too old does not.
    if (response === null || response.ok) {
      renewInTime();
    }
  }, half);
}

function takeCode() {
  const given = new URLSearchParams(location.hash.slice(1));
  const code = given.get("code");
  if (code !== null) {
    history.replaceState(null, "", location.pathname + location.search);
  }
  return code;
}

function keep(answer) {
  const kept = { token: answer.token, until: Date.now() + answer.expires_in * 1000 };
  sessionStorage.setItem(KEY, JSON.stringify(kept));
}

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY));
  } catch {
    return null;
  }
}
