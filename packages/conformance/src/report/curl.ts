import { ALTERED, type Observation, type Observed, type ObservedLine } from '../wire/observed.ts'

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** A command that repeats an observation. */
export function commandOf(observation: Observation): string {
  return 'line' in observation ? printfOf(observation) : curlOf(observation)
}

/** For the standard input of the program under test. */
function printfOf({ line, unrepeatable }: ObservedLine): string {
  return withWarning(`printf '%s\\n' ${quote(line)}`, 'line', unrepeatable)
}

const withWarning = (command: string, what: string, why: string | undefined) =>
  why === undefined ? command : `# not the same ${what}: ${why}\n${command}`

/** A command that repeats a request. Secrets come from the environment, because a report holds none. */
export function curlOf({ method, url, headers, body, unrepeatable, connection }: Observed): string {
  const shown = Object.entries(headers).map(([name, value]) => {
    if (name !== 'authorization' || !/\[\w+\]$/u.test(value)) return `-H ${quote(`${name}: ${value}`)}`
    const variable = value.endsWith(ALTERED) ? 'ALTERED_TOKEN' : 'ACCESS_TOKEN'
    return `-H "Authorization: Bearer $${variable}"`
  })
  const tls = [
    ...(connection?.hasAuthority ? ['--cacert "$CA_FILE"'] : []),
    ...(connection?.hasCertificate ? ['--cert "$CERTIFICATE_FILE" --key "$KEY_FILE"'] : []),
  ]
  const data = body === undefined ? [] : [`--data-raw ${quote(body)}`]
  const command = ['curl -i', ...tls, `-X ${method}`, quote(url), ...shown, ...data].join(' \\\n  ')
  return withWarning(command, 'request', unrepeatable)
}
