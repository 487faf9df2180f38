import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentedLabels, unknownLabels } from './metric-labels.ts'

const known = documentedLabels(`
| metric                     | type      | labels            | meaning |
| \`aex_deliveries_total\`   | counter   | \`result\`        | x       |
| \`aex_http_request_seconds\` | histogram | \`method\`, \`route\` | x   |
| \`aex_ready\`              | gauge     |                   | x       |`)

test('labels that the metrics of an expression have are accepted', () => {
  for (const text of [
    'sum(increase(aex_deliveries_total{result="dead"}[1h])) > 0',
    'histogram_quantile(0.99, sum by (le, instance) (rate(aex_http_request_seconds_bucket{method="POST"}[5m]))) {{instance}}',
    'up == 0 and on (job, instance) aex_ready # {{ $labels.instance }}',
  ])
    assert.deepEqual(unknownLabels(text, known), [], text)
})

test('a label that no metric of the expression has is found where it is matched, grouped or shown', () => {
  const cases: [string, string[]][] = [
    ['aex_deliveries_total{outcome=~"dead|failed"}', ['outcome of aex_deliveries_total']],
    ['aex_ready{result="dead"}', ['result of aex_ready']],
    ['sum by (kind) (aex_deliveries_total)', ['kind']],
    ['sum by (le) (aex_deliveries_total)', ['le']],
    ['aex_ready summary: {{ $labels.queue }}', ['queue']],
    ['aex_ready {{pool}}', ['pool']],
  ]
  for (const [text, found] of cases) assert.deepEqual(unknownLabels(text, known), found, text)
})
