import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nestSteps, type NestedStep, type Step } from './nest-steps.ts'

const step = (kind: Step['kind'], what: string, at: string, rest: Partial<Step> = {}): Step => ({
  at,
  kind,
  what,
  outcome: 'good',
  from: 'exchange',
  package_id: 'pkg_1',
  facts: {},
  ...rest,
})
const event = (what: string, at: string, ...deliveries: string[]) =>
  step('notification', what, at, {
    facts: { deliveries: deliveries.map((delivery_id) => ({ delivery_id })) },
  })
const attempt = (what: string, at: string, delivery_id: string) =>
  step('attempt', what, at, { facts: { delivery_id } })

type Shape = string | [string, ...Shape[]]
const shapeOf = ({ step: { what }, below }: NestedStep): Shape =>
  below.length === 0 ? what : [what, ...below.map(shapeOf)]

test('attempts, replays and alerts stand below their event, and events below the request that caused them', () => {
  const nested = nestSteps([
    step('evidence', 'accepted', '01'),
    event('notified owner', '01', 'dlv_1', 'dlv_2'),
    event('notified sender', '01'),
    attempt('503', '02', 'dlv_1'),
    step('alert', 'dead letter', '03', { facts: { delivery_id: 'dlv_1' } }),
    step('evidence', 'fetched', '04'),
    event('notified owner again', '04', 'dlv_3'),
    step('evidence', 'replayed', '05', { facts: { delivery_id: 'dlv_2', replay_of: 'dlv_1' } }),
    attempt('204', '06', 'dlv_2'),
  ])
  assert.deepEqual(nested.map(shapeOf), [
    ['accepted', ['notified owner', '503', 'dead letter', 'replayed', '204'], 'notified sender'],
    ['fetched', 'notified owner again'],
  ])
})

test('what has no place stands by itself: another package, another time, an unknown delivery, a key', () => {
  const nested = nestSteps([
    step('evidence', 'accepted', '01'),
    step('notification', 'of another package', '01', { package_id: 'pkg_2' }),
    event('at another time', '02'),
    attempt('of an unknown delivery', '02', 'dlv_9'),
    step('key_event', 'key revoked', '03'),
  ])
  assert.deepEqual(nested.map(shapeOf), [
    'accepted',
    'of another package',
    'at another time',
    'of an unknown delivery',
    'key revoked',
  ])
})
