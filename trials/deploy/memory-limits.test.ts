import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../../tools/repository/repository-files.ts'

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
/** Room for what was not measured: bodies of operators (128 MiB), cached artifacts (64 MiB), other loads. */
const LEAST_ROOM = 1.3
/** A limit that is never reached protects nobody. */
const MOST_ROOM = 3

/** Peak megabytes of a process, as docs/sizing.md gives them. */
function measured(role: 'api' | 'worker'): number {
  const row = /^\| with request bodies up to the limit[^|]*\| +(\d+) \| +(\d+) \|$/mu.exec(
    read('docs/sizing.md'),
  )
  return Number(row?.[role === 'api' ? 1 : 2])
}

const megabytes = (text = '') => Number.parseInt(text, 10) * (text.includes('G') ? 1_024 : 1)

test('memory limits of chart and unit fit what was measured', () => {
  const values = read('deploy/helm/agent-exchange/values.yaml')
  for (const role of ['api', 'worker'] as const) {
    const [, part = ''] = values.split(new RegExp(`^${role}:$`, 'mu'))
    const limit = megabytes(/limits: \{ memory: (\w+) \}/u.exec(part)?.[1])
    const request = megabytes(/requests: \{ cpu: \w+, memory: (\w+) \}/u.exec(part)?.[1])
    const peak = measured(role)
    assert.ok(limit >= peak * LEAST_ROOM && limit <= peak * MOST_ROOM, `${role}: ${limit} of ${peak}`)
    assert.ok(request >= peak * 0.7 && request <= limit, `${role} requests ${request} of ${peak}`)
  }
  // One process may have both roles.
  const unit = megabytes(/^MemoryMax=(\w+)$/mu.exec(read('deploy/systemd/agent-exchange@.service'))?.[1])
  const both = Math.max(measured('api'), measured('worker'))
  assert.ok(unit >= both * LEAST_ROOM && unit <= both * MOST_ROOM, `unit: ${unit} of ${both}`)
})
