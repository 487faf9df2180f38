# Packages of sender and recipient: seal, send, open, send receipts, respond, revoke, verify evidence.

schemas() {
  local name
  for name in reasoning_package response_object policy_envelope loop_thread network_story audit_event; do
    [[ ! -s $home/schemas/$name.schema.json ]] || continue
    plain_curl --fail -o "$work/schema.json" "$(setting exchange)/schemas/$name.schema.json"
    mv "$work/schema.json" "$home/schemas/$name.schema.json"
  done
}

# Prints a canonical object with its ES256 signature, optionally over an additional member.
signed() { # CANONICAL_OBJECT [NAME=TEXT]
  local covered=$1 signature
  if [[ $# == 2 ]]; then
    printf '%s' "$1" >"$work/body.json"
    covered=$(canonical "@$work/body.json" "$2")
  fi
  signature=$(printf '%s' "$covered" | es256 "$home/signing.pem")
  printf '%s,"signature":{"algorithm":"ES256","key_id":"%s","signature":"%s"}}' "${1%\}}" \
    "$(key_id signing)" "$signature"
}

# Evaluates the policy and seals in memory, signs with openssl, and writes to the outbox before sending.
prepare() { # RECIPIENT_AGENT DRAFT POLICY THREAD RESPONDS_TO APPROVED_BY → package id
  local id protected payload signature
  directory "$1" >/dev/null
  schemas
  get_json "$work/recipient.json" "/v1/agents/$1"
  id=$(step sealing --organization "$(setting organization)" --agent "$(setting agent)" \
    --encryption-key "$home/encryption.pem" --encryption-key-id "$(key_id encryption)" \
    --peers "$home/peers" --schemas "$home/schemas" --recipient "$work/recipient.json" \
    --to-org "$(field "$work/recipient.json" organization_id)" --to-agent "$1" --draft "$2" --policy "$3" \
    --skill "$skill" --skill-version "$skill_version" --thread "$4" --responds-to "$5" --approved-by "$6" \
    --out "$work")
  mkdir "$work/out"
  signed "$(cat "$work/receipt.json")" >"$work/out/receipt.json"
  # RFC 7515 section 5.1: the signing input is header and payload in base64url, separated by a dot.
  protected=$(canonical alg=ES256 typ=application/svc+jws cty=application/svc.exchange-envelope+json syv=svc/1.0 \
    kid="$(key_id signing)" | base64url)
  payload=$(base64url <"$work/payload.json")
  signature=$(printf '%s.%s' "$protected" "$payload" | es256 "$home/signing.pem")
  printf '{"protected":"%s","payload":"%s","signature":"%s"}' "$protected" "$payload" "$signature" \
    >"$work/out/package.json"
  printf '/v1/packages%s' "${5:+/$5/responses}" >"$work/out/path"
  mv "$work/out" "$home/outbox/$id"
  printf '%s' "$id"
}

# Idempotency keys are derived from the package id, so a retry after a crash never sends twice.
post() { # PACKAGE_ID
  require_id 'pkg|resp' "$1"
  local out=$home/outbox/$1
  [[ -d $out ]] || fail "There is no $1 in the outbox."
  post_json "$work/answer.json" /v1/policy-receipts "$out/receipt.json" "receipt-$1"
  [[ $(field "$work/answer.json" package_authorization) == eligible ]] || fail 'The policy receipt is not eligible.'
  post_json "$work/answer.json" "$(cat "$out/path")" "$out/package.json" "package-$1"
  field "$work/answer.json" package_id
}

# Sets `thread` and `approved_by` from the options of "send" and "respond".
read_options() {
  thread='' approved_by=''
  while (($# > 0)); do
    case $1 in
      --thread) require_id thread "${2:-}" && thread=$2 ;;
      --approved-by) approved_by=${2:?--approved-by needs a reference} ;;
      *) fail "Unknown option $1." ;;
    esac
    shift 2
  done
}

send() { # AGENT_ID DRAFT POLICY OPTION...
  local id thread approved_by
  read_options "${@:4}"
  id=$(prepare "$1" "$2" "$3" "$thread" '' "$approved_by")
  post "$id"
}

respond() { # PACKAGE_ID DRAFT POLICY OPTION...
  require_id pkg "$1"
  local id sender thread approved_by
  read_options "${@:4}"
  get_json "$work/original.json" "/v1/packages/$1"
  sender=$(field "$work/original.json" metadata sender_agent_id)
  thread=$(field "$work/original.json" thread_id)
  id=$(prepare "$sender" "$2" "$3" "$thread" "$1" "$approved_by")
  post "$id"
}

open() { # PACKAGE_ID
  require_id 'pkg|resp' "$1"
  local sender policy_receipt plaintext status=0
  schemas
  get_json "$work/package.json" "/v1/packages/$1"
  policy_receipt=$(field "$work/package.json" metadata policy_receipt_id)
  get_json "$work/receipt.json" "/v1/policy-receipts/$(segment "$policy_receipt")"
  get_json "$work/evidence.json" "/v1/audit/packages/$1"
  ask "$work/content" "$(field "$work/package.json" ciphertext_download_url)"
  sender=$(field "$work/package.json" metadata sender_agent_id)
  directory "$sender" >/dev/null
  directory "$platform" >/dev/null
  # The plaintext stays in memory and is never written to a file.
  plaintext=$(step opening --fetched "$work" --agent "$(setting agent)" --platform "$platform" \
    --peers "$home/peers" --schemas "$home/schemas" --encryption-key "$home/encryption.pem" \
    --encryption-key-id "$(key_id encryption)") || status=$?
  case $status in
    0) ;;
    3) receipt "$1" rejected >/dev/null; fail 'A rejected receipt was sent.' ;;
    4) receipt "$1" failed >/dev/null; fail 'A failed receipt was sent.' ;;
    *) fail 'Opening ended for another reason; no receipt was sent.' ;;
  esac
  receipt "$1" received >/dev/null
  receipt "$1" opened >/dev/null
  printf '%s\n' "$plaintext"
}

# Signed over the body with the package id added, so that it is not valid for another package.
receipt() { # PACKAGE_ID STATE
  require_id 'pkg|resp' "$1"
  [[ $2 =~ ^(received|opened|rejected|failed)$ ]] || fail 'The states are received, opened, rejected and failed.'
  local body digest file=$home/outbox/$1.$2.json
  if [[ ! -s $file ]]; then
    # After "open" this is the verified response.
    [[ -s $work/package.json ]] || get_json "$work/package.json" "/v1/packages/$1"
    digest=$(field "$work/package.json" metadata content_digest)
    body=$(canonical receipt_id="$(new_id rcpt)" state="$2" occurred_at="$(now)" \
      actor_agent_id="$(setting agent)" package_digest="$digest")
    keep "$file" "$(signed "$body" package_id="$1")"
  fi
  post_json "$work/answer.json" "/v1/packages/$1/receipts" "$file" "$2-$1"
  field "$work/answer.json" accepted_at
}

revoke() { # PACKAGE_ID CODE DETAIL
  require_id 'pkg|resp' "$1"
  local body file=$home/outbox/$1.revoked.json
  if [[ ! -s $file ]]; then
    body=$(canonical requested_at="$(now)" reason_code="$2" reason_detail="$3")
    keep "$file" "$(signed "$body" package_id="$1")"
  fi
  post_json "$work/answer.json" "/v1/packages/$1/revoke" "$file" "revoke-$1"
  field "$work/answer.json" outcome
}

package() { # PACKAGE_ID
  require_id 'pkg|resp' "$1"
  get_json "$work/package.json" "/v1/packages/$1"
  field "$work/package.json" state
}

thread() { # THREAD_ID
  require_id thread "$1"
  local index=0 id
  get_json "$work/thread.json" "/v1/threads/$1"
  while id=$(field "$work/thread.json" packages "$index" package_id) && [[ -n $id ]]; do
    printf '%s %s\n' "$id" "$(field "$work/thread.json" packages "$index" state)"
    index=$((index + 1))
  done
}

evidence() { # PACKAGE_ID|THREAD_ID
  require_id 'pkg|resp|thread' "$1"
  local kind=packages agent
  [[ $1 != thread_* ]] || kind=threads
  get_json "$work/evidence.json" "/v1/audit/$kind/$1" --get --data limit=1000
  directory "$platform" >/dev/null
  while read -r agent; do
    [[ -z $agent ]] || directory "$agent" >/dev/null
  done < <(step evidence agents "$work/evidence.json")
  step evidence check "$work/evidence.json" "$home/peers" "$platform"
}
