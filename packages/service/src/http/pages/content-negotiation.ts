const JSON_TYPE = 'application/json'
const HTML_TYPE = 'text/html'

/** RFC 9110 section 12.5.1: JSON only if the client prefers it to HTML. */
export function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const ranges = accept.split(',').map(parseRange)
  return quality(ranges, JSON_TYPE) > quality(ranges, HTML_TYPE)
}

interface MediaRange {
  readonly name: string
  readonly quality: number
}

function parseRange(text: string): MediaRange {
  const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return { name, quality: weight === undefined ? 1 : Number(weight.slice(2)) || 0 }
}

/** RFC 9110 section 12.5.1: the most specific matching range applies. */
function quality(ranges: readonly MediaRange[], type: string): number {
  const covering = [type, `${type.split('/', 1)[0]}/*`, '*/*']
  for (const name of covering) {
    const range = ranges.find((candidate) => candidate.name === name)
    if (range) return range.quality
  }
  return 0
}
