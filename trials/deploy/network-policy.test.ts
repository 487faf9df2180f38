import assert from 'node:assert/strict'
import { test } from 'node:test'
import { egressPorts, openEgress } from './network-policy.ts'

const policy = (egress: string) => `---
kind: NetworkPolicy
metadata:
  name: exchange-api
spec:
  egress:${egress}
---
kind: Service
`

test('an egress rule needs a destination', () => {
  const closed = policy(`
    # database
    - to:
        - ipBlock:
            cidr: 10.0.0.0/8
      ports:
        - { port: 5432, protocol: TCP }`)
  assert.deepEqual(openEgress(closed), [])
  assert.deepEqual(egressPorts(closed, 'exchange-api'), [5432])
  const open = policy(`
    - ports:
        - { port: 53, protocol: UDP }
        - { port: 443, protocol: TCP }`)
  assert.deepEqual(openEgress(open), [
    'exchange-api lets everything out by: ports: - { port: 53, protocol: UDP } - { port: 443, protocol: TCP }',
  ])
  assert.equal(openEgress(policy('\n    - to:\n      ports:\n        - { port: 443 }')).length, 1)
  assert.deepEqual(openEgress(policy('')), ['exchange-api has no egress rule'])
})
