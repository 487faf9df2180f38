/** Labels by metric, as the tables of docs/metrics.md list them. A test of the service compares those with a scrape. */
export function documentedLabels(page: string): ReadonlyMap<string, readonly string[]> {
  const rows = [...page.matchAll(/^\| `(?<name>aex_\w+)`\s+\| \w+\s+\| (?<labels>[^|]*)\|/gmu)]
  return new Map(
    rows.map(({ groups }) => [
      groups?.['name'] ?? '',
      [...(groups?.['labels'] ?? '').matchAll(/`(\w+)`/gu)].map(([, label = '']) => label),
    ]),
  )
}

/** Prometheus adds the first two to every target, and AEX_WORKERS the last one to gauges. */
const TARGET_LABELS = ['job', 'instance', 'worker']
const SELECTOR = /\b(?<metric>(?:aex|process|nodejs)_\w+|up)\b(?:\{(?<matchers>[^}]*)\})?/gu
const GROUPING = /\b(?:by|on|without|ignoring|group_left|group_right)\s*\((?<labels>[^)]*)\)/gu
/** In annotations of rules, and in legends of the dashboard. */
const TEMPLATE = /\$labels\.(\w+)|\{\{(\w+)\}\}/gu

/**
 * Labels that an expression uses and none of its metrics has.
 *
 * @param text the expression, with the templates that its result fills
 */
export function unknownLabels(text: string, known: ReadonlyMap<string, readonly string[]>): string[] {
  const unknown: string[] = []
  const all = new Set(TARGET_LABELS)
  for (const { groups } of text.matchAll(SELECTOR)) {
    const metric = groups?.['metric'] ?? ''
    const labels = new Set([...TARGET_LABELS, ...labelsOf(metric, known)])
    for (const label of labels) all.add(label)
    for (const [, label = ''] of (groups?.['matchers'] ?? '').matchAll(/(\w+)\s*(?:=~|!~|!=|=)/gu))
      if (!labels.has(label)) unknown.push(`${label} of ${metric}`)
  }
  const grouped = [...text.matchAll(GROUPING)].flatMap(({ groups }) =>
    (groups?.['labels'] ?? '').split(',').map((label) => label.trim()),
  )
  const shown = [...text.matchAll(TEMPLATE)].map(([, rule, legend]) => rule ?? legend ?? '')
  unknown.push(...[...grouped, ...shown].filter((label) => label !== '' && !all.has(label)))
  return unknown
}

function labelsOf(metric: string, known: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const part = /^(?<base>\w+)_(?<kind>bucket|count|sum)$/u.exec(metric)?.groups
  const labels = known.get(metric) ?? known.get(part?.['base'] ?? '') ?? []
  return part?.['kind'] === 'bucket' ? [...labels, 'le'] : labels
}
