import type { Observed } from '../wire/observed.ts'

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** A command that repeats a request. The token comes from the environment, because a report holds no secrets. */
export function curlOf({ method, url, headers, body }: Observed): string {
  const shown = Object.entries(headers).map(([name, value]) =>
    name === 'authorization' && value.startsWith('Bearer ')
      ? '-H "Authorization: Bearer $ACCESS_TOKEN"'
      : `-H ${quote(`${name}: ${value}`)}`,
  )
  const data = body === undefined ? [] : [`--data-raw ${quote(body)}`]
  return ['curl -i', `-X ${method}`, quote(url), ...shown, ...data].join(' \\\n  ')
}
