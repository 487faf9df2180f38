# Requests to the exchange with curl: discovery, access token, operations.
#
# Tokens and assertions are passed to curl in files, because arguments are visible to all users of the machine.

readonly ANSWER_BYTES=4194304 SECONDS_LIMIT=60 TOKEN_SLACK=60

# Options of every request: no redirects, no personal configuration.
plain_curl() {
  curl -q --silent --show-error --proto '=http,https' --max-time "$SECONDS_LIMIT" --max-filesize "$ANSWER_BYTES" \
    --retry 3 --retry-connrefused --retry-max-time 90 "$@"
}

require_address() { # URL
  [[ $1 =~ ^https://[^/?#@]+(/[^?#]*)?$ || $1 =~ ^http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/[^?#]*)?$ ]] ||
    fail "$1 is not an https address (plain http is for this machine only)."
}

# RFC 8414 section 3.1 and RFC 9728 section 3.1: the well-known part goes between host and path.
well_known() { # URL NAME
  local origin path
  origin=$(sed -E 's#^(https?://[^/]+).*#\1#' <<<"$1")
  path=${1#"$origin"}
  printf '%s/.well-known/%s%s' "$origin" "$2" "${path%/}"
}

discover() { # → $work/server.json
  local exchange issuer
  exchange=$(setting exchange)
  plain_curl --fail -o "$work/resource.json" "$(well_known "$exchange" oauth-protected-resource)"
  # RFC 9728 section 3.3: reject metadata of another resource.
  [[ $(field "$work/resource.json" resource) == "$exchange" ]] || fail 'The metadata is of another exchange.'
  issuer=$(field "$work/resource.json" authorization_servers 0)
  require_address "$issuer"
  plain_curl --fail -o "$work/server.json" "$(well_known "$issuer" oauth-authorization-server)"
  # RFC 8414 section 3.3.
  [[ $(field "$work/server.json" issuer) == "$issuer" ]] || fail 'The metadata is of another authorization server.'
  require_address "$(field "$work/server.json" token_endpoint)"
}

# RFC 7523 section 3: a client assertion, valid once within a minute.
client_assertion() { # ISSUER
  local client header claims now
  client=$(setting client)
  now=$(date +%s)
  header=$(printf '{"alg":"ES256","typ":"JWT"}' | base64url)
  claims=$(canonical iss="$client" sub="$client" aud="$1" jti="$(new_id jti)" iat:="$now" exp:=$((now + 60)) | base64url)
  printf '%s.%s.%s' "$header" "$claims" "$(printf '%s.%s' "$header" "$claims" | es256 "$home/client.pem")"
}

fetch_token() { # → $home/authorization, $home/token-until
  local status token seconds
  discover
  # An assertion is valid once, so this request is never retried with the same one.
  client_assertion "$(field "$work/server.json" issuer)" >"$work/assertion"
  status=$(
    plain_curl --retry 0 -o "$work/token.json" -w '%{http_code}' "$(field "$work/server.json" token_endpoint)" \
      --data grant_type=client_credentials --data-urlencode "resource=$(setting exchange)" \
      --data-urlencode client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \
      --data-urlencode "client_assertion@$work/assertion"
  )
  [[ $status == 200 ]] || fail "No access token (status $status): $(field "$work/token.json" error)." \
    'Check the client id, and that the operator has the public key of "agent.sh jwk client".'
  token=$(field "$work/token.json" access_token)
  seconds=$(field "$work/token.json" expires_in)
  # Validate both: one goes into a header, the other into arithmetic, which bash evaluates.
  [[ $token =~ ^[A-Za-z0-9._~+/-]+=*$ && $seconds =~ ^[0-9]{1,6}$ ]] || fail 'The answer is not an access token.'
  printf 'Authorization: Bearer %s\n' "$token" >"$home/authorization"
  printf '%s' "$(($(date +%s) + seconds - TOKEN_SLACK))" >"$home/token-until"
}

authorize() {
  [[ -s $home/authorization && $(date +%s) -lt $(cat "$home/token-until" 2>/dev/null || echo 0) ]] || fetch_token
}

# Sends a request with the token and stores the response in a file. A problem goes to standard error.
ask() { # FILE URL CURL_ARGUMENT...
  local file=$1 url=$2 status attempt
  shift 2
  # Send the token only to its own exchange.
  [[ $url == "$(setting exchange)"/* ]] || fail 'The exchange named an address that is not its own.'
  for attempt in first second; do
    authorize
    status=$(plain_curl -o "$file" -w '%{http_code}' -H "@$home/authorization" \
      -H "X-Correlation-ID: $(new_id corr)" "$@" "$url")
    # Replace an invalid token, once.
    [[ $status == 401 && $attempt == first ]] || break
    rm -f "$home/authorization"
  done
  [[ $status == 2* ]] || fail "The exchange answered $status: $(head -c 2000 "$file" | tr -d '\000-\037\177')"
}

# Encodes an id of another party as a path segment (RFC 3986 section 2.1).
segment() { # TEXT
  local LC_ALL=C text=$1 out='' index char
  for ((index = 0; index < ${#text}; index++)); do
    char=${text:index:1}
    [[ $char == [A-Za-z0-9_~-] ]] || printf -v char '%%%02X' "'$char"
    out+=$char
  done
  printf '%s' "$out"
}

get_json() { # FILE PATH CURL_ARGUMENT...
  ask "$1" "$(setting exchange)$2" "${@:3}"
}

# The same key with the same body is the same request, so retries are safe.
post_json() { # FILE PATH BODY_FILE IDEMPOTENCY_KEY
  ask "$1" "$(setting exchange)$2" -H 'Content-Type: application/json' -H "Idempotency-Key: $4" --data-binary "@$3"
}
