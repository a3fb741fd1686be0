// Swagger UI, signed in: every request that it sends to this server carries the page's token.

import { renewInTime, signIn, token, wantsToken } from "/web/sign-in.js";

async function open() {
  const failed = await signIn();
  if (token() === null && (await wantsToken())) {
    tell(failed);
    return;
  }
  renewInTime();
  show();
}

function show() {
  document.getElementById("notice").hidden = true;
  const ui = SwaggerUIBundle({
    url: "/openapi.json",
    dom_id: "#swagger-ui",
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    validatorUrl: "none",
    deepLinking: false,
    tryItOutEnabled: false,
    displayRequestDuration: true,
    persistAuthorization: false,
    requestInterceptor: authorized,
    onComplete: () => {
      const mine = token();
      if (mine !== null) {
        ui.preauthorizeApiKey("bearer", mine);
      }
    },
  });
}

// The token may have been renewed since Swagger UI was told of it, so the newest one is put in here.
function authorized(request) {
  const mine = token();
  if (mine !== null && new URL(request.url, location.href).origin === location.origin) {
    request.headers.Authorization = `Bearer ${mine}`;
  }
  return request;
}

function tell(failed) {
  const notice = document.getElementById("notice");
  const cause = document.createElement("p");
  cause.textContent = failed === null ? "This page is not signed in." : `Not signed in: ${failed}.`;
  const hint = document.createElement("p");
  const command = document.createElement("code");
  command.textContent = "majordomus open docs";
  hint.append("Run ", command, " in the checkout: it opens this page with a link that is good once.");
  notice.replaceChildren(cause, hint);
  notice.hidden = false;
}

// A link opened in this very tab changes only the fragment, and loads nothing.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#code=")) {
    open();
  }
});

// A module runs after the deferred bundle above it.
open();
