import assert from 'node:assert/strict'
import { test } from 'node:test'
import { protocolRangeIncludes } from './protocol-range.ts'

test('[ID-09] a range includes the versions it names', () => {
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
