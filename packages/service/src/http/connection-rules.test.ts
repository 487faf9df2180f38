import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { descriptorLimit } from '../config/descriptor-limit.ts'
import { connectionRules } from './connection-rules.ts'

const config = { profile: DEFAULT_PROFILE, tls: undefined, trustedProxies: [] }

function rulesWith(descriptors: number | undefined) {
  const warned: object[] = []
  const log = { warn: (fields: object) => void warned.push(fields) }
  return { ...connectionRules(config, log, descriptors), warned }
}

test('the profile limits connections if the process may open enough files', () => {
  const { agent, operator, warned } = rulesWith(1_000_000)
  assert.deepEqual([agent.total, agent.perAddress, operator.total], [4_096, 1_024, 128])
  assert.deepEqual(warned, [])
})

test('a low open files limit keeps descriptors for the database and webhooks, and is logged', () => {
  for (const descriptors of [200, 256, 400, 1_024, 4_096]) {
    const { agent, operator, warned } = rulesWith(descriptors)
    assert.ok(agent.total + operator.total <= descriptors * 0.75 - 60, String(descriptors))
    assert.ok(agent.perAddress <= agent.total / 2 + 1 && operator.total >= 8)
    assert.equal(warned.length, 1)
  }
})

test(
  'the limit of open files is read from the system, and is unknown elsewhere',
  { skip: process.platform !== 'linux' },
  () => {
    assert.ok((descriptorLimit() ?? 0) >= 64)
    assert.equal(descriptorLimit('/nowhere'), undefined)
  },
)

test('with trusted proxies and without TLS, all other peers are refused; with TLS they are accepted', () => {
  const log = { warn: () => undefined }
  const trustedProxies = ['10.0.0.5', '192.168.0.0/24']
  const { agent, operator } = connectionRules({ ...config, trustedProxies }, log)
  assert.deepEqual([agent.proxiesOnly, operator.proxiesOnly], [true, false])
  assert.equal(agent.isProxy('::ffff:192.168.0.77'), true)
  assert.equal(agent.isProxy('127.0.0.1'), false)
  const tls = { certificate: '', key: '', clientCa: undefined }
  assert.equal(connectionRules({ ...config, trustedProxies, tls }, log).agent.proxiesOnly, false)
  assert.equal(connectionRules(config, log).agent.proxiesOnly, false)
})
