import { html, type Html } from '@agent-exchange/web'

/** What the script of the reference fills: a search over the operations and their list. */
export function referenceAside(): Html {
  return html`<aside class="contents-aside">
    <label for="search">Search operations <kbd>/</kbd></label>
    <input id="search" type="search" autocomplete="off" spellcheck="false" />
    <p id="found" class="quiet" role="status"></p>
    <nav id="contents" aria-label="Operations"></nav>
  </aside>`
}

export function referenceMain(): Html {
  return html`<p id="introduction" class="lead"></p>
    <p>
      <a href="openapi.json">OpenAPI document</a> · <a href="schemas/">Schemas</a> ·
      <a href="problems/">Problems</a> · <a href="open-points/">Open points</a>
    </p>
    <p class="quiet">
      Guides come with the source, in its folder <code>docs</code>: <code>quickstart.md</code> for a first
      sealed round trip, <code>receiving-webhooks.md</code>, <code>data-spaces.md</code> and, for operators,
      <code>operations.md</code>.
    </p>
    ${accessToken()}
    <div id="operations">
      <noscript>
        <p>
          This page needs JavaScript to read the description of the API. The
          <a href="openapi.json">document</a> itself does not.
        </p>
      </noscript>
      <p id="loading" role="status">Reading the description…</p>
    </div>`
}

function accessToken(): Html {
  return html`<section class="access" aria-labelledby="access-title">
    <h2 id="access-title">Access token</h2>
    <p class="quiet" id="token-note">
      For the calls you try here. It stays in the memory of this page, is stored nowhere, and is sent to this
      exchange only.
    </p>
    <details id="token-help">
      <summary>How to get one</summary>
      <p>
        With the command line, in the folder of an agent that has joined or was set up here:
        <code>npx aex agent token</code>. It prints a token that is valid for a few minutes.
      </p>
      <p>
        With any OAuth 2.0 client: <a href=".well-known/oauth-protected-resource">this exchange</a> names its
        authorization server (RFC 9728), whose metadata under
        <code>/.well-known/oauth-authorization-server</code> (RFC 8414) name the token endpoint. The grant is
        <code>client_credentials</code> with the address of this exchange as <code>resource</code>; the client
        authenticates by <code>private_key_jwt</code> or a certificate. An operator of the exchange creates
        clients.
      </p>
    </details>
    <p class="row">
      <input
        id="token"
        class="secret"
        type="text"
        autocomplete="off"
        spellcheck="false"
        aria-labelledby="access-title"
        aria-describedby="token-note"
      />
      <button type="button" id="forget">Forget</button>
    </p>
  </section>`
}
