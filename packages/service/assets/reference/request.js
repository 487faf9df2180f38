/** A call to the exchange as data, and the same as a line for a shell. */

/** The path with its parameters filled in, and those query parameters that have a value. */
export function addressOf({ path, parameters, values }) {
  const filled = path.replaceAll(/\{(\w+)\}/gu, (_match, name) => encodeURIComponent(values.get(name) ?? ''))
  const query = new URLSearchParams()
  for (const { name, in: place } of parameters) {
    const value = values.get(name) ?? ''
    if (place === 'query' && value !== '') query.append(name, value)
  }
  return query.size > 0 ? `${filled}?${query}` : filled
}

export function headersOf({ parameters, values, body }) {
  const headers = parameters
    .filter(({ in: place }) => place === 'header')
    .map(({ name }) => [name, values.get(name) ?? ''])
  return body === undefined ? headers : [...headers, ['Content-Type', 'application/json']]
}

/** With $TOKEN where the token goes: a line that is pasted elsewhere must not carry it. */
export function curlLine({ method, base, ...call }) {
  const parts = [`curl -X ${method} ${quoted(base.replace(/\/$/u, '') + addressOf(call))}`]
  parts.push('-H "Authorization: Bearer $TOKEN"')
  for (const [name, value] of headersOf(call)) parts.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (call.body !== undefined) parts.push(`--data-binary ${quoted(call.body)}`)
  return parts.join(' \\\n  ')
}

/** In single quotes a shell reads everything as it is, but for the quote itself. */
function quoted(value) {
  return `'${value.replaceAll("'", `'\\''`)}'`
}

/** RFC 9562 section 5.4. `crypto.randomUUID` is missing where a page came over plain HTTP. */
export function randomUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
