# Keys and signatures with openssl. Private keys are PEM files that only their owner can read.

make_key() { # FILE
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"
}

base64url() {
  openssl base64 -A | tr '+/' '-_' | tr -d '='
}

# A P-256 public key in DER ends with the two coordinates of its point, 32 bytes each (RFC 5480 section 2.2).
coordinates() { # FILE
  openssl pkey -in "$1" -pubout -outform DER | tail -c 64
}

# The public key as a JWK. Members are in the order of RFC 7638, so this is also the input of the thumbprint.
public_jwk() { # FILE
  local x y
  x=$(coordinates "$1" | head -c 32 | base64url)
  y=$(coordinates "$1" | tail -c 32 | base64url)
  printf '{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}' "$x" "$y"
}

fingerprint() { # FILE
  public_jwk "$1" | openssl dgst -sha256 -binary | base64url
}

# The id of a key contains its fingerprint, so an id never names another key. The id of the encryption key also
# contains an introduction signed by the signing key. A peer that knows the fingerprint of the signing key can
# therefore detect a false encryption key in any directory (as in the SDK of this project).
name_keys() { # ORG_ID AGENT_ID
  local mark introduction
  printf 'key_%s' "$(fingerprint "$home/signing.pem")" >"$home/signing.id"
  mark=$(fingerprint "$home/encryption.pem")
  introduction=$(canonical purpose=aex-key-introduction organization_id="$1" agent_id="$2" use=encryption \
    thumbprint="$mark" | es256 "$home/signing.pem")
  printf 'key_%s.%s' "$mark" "$introduction" >"$home/encryption.id"
}

key_id() { # signing|encryption
  cat "$home/$1.id"
}

# ES256 over standard input. openssl writes ASN.1; RFC 7518 section 3.4 requires r and s, 32 bytes each.
es256() { # FILE
  local hex
  hex=$(
    openssl dgst -sha256 -sign "$1" | openssl asn1parse -inform DER | sed -n 's/.*INTEGER *://p' |
      while read -r number; do printf '%64s' "$number"; done | tr ' ' 0
  )
  [[ $hex =~ ^[0-9A-F]{128}$ ]] || fail 'openssl gave no signature. Check that the key file is a P-256 key.'
  # shellcheck disable=SC2059 # the format is the bytes: hexadecimal digits and nothing else
  printf "$(sed 's/../\\x&/g' <<<"$hex")" | base64url
}
