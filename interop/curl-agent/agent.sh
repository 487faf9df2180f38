#!/usr/bin/env bash
# An agent of Agent Exchange built from bash, curl, openssl and Python (jwcrypto). See README.md.
set -euo pipefail
shopt -s inherit_errexit
umask 077

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${AGENT_HOME:-agent}
platform=${AGENT_PLATFORM:-agent_platform}
skill=${AGENT_SKILL:-skill_alignment} skill_version=${AGENT_SKILL_VERSION:-1.0.0}
readonly PAGES=1000

usage() {
  cat <<'END'
agent.sh COMMAND                     the folder AGENT_HOME (./agent) holds keys, settings, pins, inbox and outbox
  init URL ORG_ID AGENT_ID           makes the keys; prints the public JWK that the operator registers
  client CLIENT_ID                   keeps the id that the operator gave
  jwk client|signing|encryption      prints a public key
  fingerprint                        prints what a peer compares over another channel before it trusts this agent
  token                              prints an access token
  register                           registers the agent with its public keys
  directory AGENT_ID                 reads, pins and prints the keys of an agent, with their fingerprints
  trust AGENT_ID FINGERPRINT         trusts a key whose fingerprint came over another channel
  send AGENT_ID DRAFT POLICY [--thread ID] [--approved-by REFERENCE]
                                     judges, seals, signs and posts; prints the package id
  post PACKAGE_ID                    posts once more what "send" or "respond" left in the outbox
  poll                               stores new notifications, then acknowledges them; prints one a line
  open PACKAGE_ID                    fetches, verifies, opens and receipts a package; prints what is inside
  receipt PACKAGE_ID STATE           signs a receipt: received, opened, rejected or failed
  respond PACKAGE_ID DRAFT POLICY [--approved-by REFERENCE]
                                     answers a package; prints the id of the response
  revoke PACKAGE_ID CODE DETAIL      withdraws a package that was not opened yet
  package PACKAGE_ID                 prints the state of a package
  thread THREAD_ID                   prints the packages of a thread, in order, with their states
  evidence PACKAGE_ID|THREAD_ID      reads audit evidence and verifies it
END
}

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# The Python of Debian sees packages of Debian even if another python3 is first on the PATH.
find_python() {
  local name
  for name in python3 /usr/bin/python3; do
    "$name" -c 'import jwcrypto' 2>/dev/null && printf '%s' "$name" && return
  done
  fail 'There is no Python with jwcrypto. On Debian: apt-get install python3-jwcrypto'
}

python=${AGENT_PYTHON:-$(find_python)}
step() { PYTHONPATH="$here/../python" "$python" -B -m "agent_exchange.$1" "${@:2}"; }
field() { step field "$@"; }
canonical() { step print_canonical "$@"; }
new_id() { printf '%s_%s' "$1" "$(openssl rand -hex 16)"; }
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
setting() { sed -n "s/^$1=//p" "$home/settings" | tail -n 1; }

# shellcheck source=keys.sh
source "$here/keys.sh"
# shellcheck source=exchange.sh
source "$here/exchange.sh"
# shellcheck source=packages.sh
source "$here/packages.sh"

require_id() { # PREFIXES ID: ids become paths and file names, so nothing else may
  [[ $2 =~ ^($1)_[A-Za-z0-9][A-Za-z0-9_-]{0,127}$ ]] || fail "\"$2\" is not an id that starts with ${1//|/_ or }_."
}

# Writes files atomically, so that a retry after a crash sends the same bytes.
keep() { # FILE TEXT
  printf '%s' "$2" >"$1.new"
  mv "$1.new" "$1"
}

init() { # URL ORG_ID AGENT_ID
  require_address "$1"
  require_id org "$2"
  require_id agent "$3"
  [[ ! -e $home ]] || fail "$home is there already. Set AGENT_HOME to a new folder."
  mkdir -p "$home"/{inbox,outbox,peers,schemas}
  local name
  for name in client signing encryption; do make_key "$home/$name.pem"; done
  name_keys "$2" "$3"
  printf 'exchange=%s\norganization=%s\nagent=%s\n' "${1%/}" "$2" "$3" >"$home/settings"
  public_jwk "$home/client.pem"
  echo
}

client() { # CLIENT_ID
  [[ $1 =~ ^[A-Za-z0-9._~-]{1,256}$ ]] || fail 'That is not a client id.'
  printf 'client=%s\n' "$1" >>"$home/settings"
}

jwk() { # NAME
  [[ $1 =~ ^(client|signing|encryption)$ ]] || fail 'The keys are client, signing and encryption.'
  public_jwk "$home/$1.pem"
  echo
}

print_fingerprint() {
  fingerprint "$home/signing.pem"
  echo
}

token() {
  authorize
  sed 's/^Authorization: Bearer //' "$home/authorization"
}

register() {
  local keys='' use
  for use in signing encryption; do
    keys+=$(printf '{"key_id":"%s","use":"%s","format":"jwk","public_key":%s,"valid_from":"%s"},' \
      "$(key_id "$use")" "$use" "$(public_jwk "$home/$use.pem")" "$(now)")
  done
  cat >"$work/agent.json" <<END
{ "organization_id": "$(setting organization)", "agent_id": "$(setting agent)",
  "implementation": "curl-agent", "implementation_version": "1.0.0", "protocol_versions": ["svc/1.0"],
  "skill_versions": { "$skill": "$skill_version" }, "transport_modes": ["native"], "keys": [${keys%,}] }
END
  post_json "$work/answer.json" /v1/agents/register "$work/agent.json" "$(new_id register)"
  field "$work/answer.json" status
}

directory() { # AGENT_ID
  require_id agent "$1"
  get_json "$work/directory.json" "/v1/directory/agents/$1/keys"
  step peers pin "$home/peers" "$work/directory.json" "$1"
}

trust() { # AGENT_ID FINGERPRINT
  step peers trust "$home/peers" "$1" "$2"
}

poll() {
  local page contiguous
  local -a after
  for ((page = 0; page < PAGES; page++)); do
    after=()
    [[ ! -s $home/cursor ]] || after=(--data-urlencode "after@$home/cursor")
    get_json "$work/page.json" /v1/notifications --get --data limit=100 "${after[@]}"
    contiguous=$(step inbox keep "$home/inbox" "$work/page.json")
    # The page is stored now, so the cursor may advance.
    keep "$home/cursor" "$(field "$work/page.json" next_cursor)"
    [[ $(field "$work/page.json" has_more) == true ]] || break
  done
  acknowledge "$contiguous"
}

# Acknowledges stored notifications. The body is kept, so that a retry is identical.
acknowledge() { # LAST_CONTIGUOUS_SEQUENCE
  local event id
  for event in "$home"/inbox/*.json; do
    [[ -e $event && ! -e $event.acknowledged ]] || continue
    id=$(field "$event" notification_id)
    [[ -s $event.body ]] || keep "$event.body" "$(canonical event_id="$(field "$event" event_id)" \
      disposition=stored stored_at="$(now)" last_contiguous_sequence:="$1")"
    post_json "$work/answer.json" "/v1/notifications/$(segment "$id")/ack" "$event.body" "ack-$id"
    mv "$event.body" "$event.acknowledged"
    step inbox show "$event"
  done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command=${1:-help}
shift || true
case $command/$# in
  token/0 | register/0 | poll/0 | client/1 | jwk/1 | directory/1 | post/1 | open/1 | package/1 | thread/1 | evidence/1 | \
    trust/2 | receipt/2 | init/3 | revoke/3 | send/[3-7] | respond/[3-5]) "$command" "$@" ;;
  fingerprint/0) print_fingerprint ;;
  help/0 | --help/0 | -h/0) usage ;;
  *) usage >&2 && exit 2 ;;
esac
