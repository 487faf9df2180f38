import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocolRangeFailures, protocolRangeIncludes } from './protocol-range.ts'

test('[ID-09] a range includes its versions', () => {
  const cases: [range: string, version: string, included: boolean | undefined][] = [
    ['svc/1.0', 'svc/1.0', true],
    ['svc/1.0', 'svc/1.1', false],
    ['=svc/1.0', 'svc/1.0', true],
    ['>=svc/1.0 <svc/2.0', 'svc/1.9', true],
    ['>=svc/1.0 <svc/2.0', 'svc/2.0', false],
    ['>svc/1.0', 'svc/1.0', false],
    ['<=svc/1.10', 'svc/1.9', true],
    ['svc/1.0 || svc/3.0', 'svc/3.0', true],
    ['svc/1.0||svc/3.0', 'svc/2.0', false],
    ['other/1.0', 'svc/1.0', false],
    ['^1.0', 'svc/1.0', undefined],
    ['', 'svc/1.0', undefined],
    ['svc/1.0 ||', 'svc/1.0', undefined],
    ['svc/1.0', 'latest', undefined],
  ]
  for (const [range, version, included] of cases) {
    assert.equal(protocolRangeIncludes(range, version), included, `${range} ∋ ${version}`)
  }
})

test('[ID-09][O-06] an unreadable range is reported, with valid examples', () => {
  for (const range of ['svc/1.0', '>=svc/1.0 <svc/2.0', 'other/7.0', 'svc/1.0 || svc/3.0']) {
    assert.deepEqual(protocolRangeFailures(range, '/protocol_range'), [], range)
  }
  for (const range of ['', '^1.0', 'any', '1.0', 'svc/1.0 ||', '>= svc/1.0', 'svc/1.0,svc/2.0']) {
    const [failure, ...more] = protocolRangeFailures(range, '/protocol_range')
    assert.deepEqual([failure?.pointer, failure?.rule, more], ['/protocol_range', 'O-06', []], range)
    const examples = [...(failure?.message.matchAll(/"([^"|]+)"/g) ?? [])].map((match) => match[1] ?? '')
    assert.ok(examples.length > 0)
    for (const example of examples) assert.deepEqual(protocolRangeFailures(example, ''), [], example)
  }
})
