import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  eventTypeFor,
  hasBeenAccessed,
  movePackage,
  PACKAGE_TRANSITIONS,
  progression,
  type PackageTrigger,
} from './package-states.ts'
import { createProfile } from './profile/profile.ts'
import { PACKAGE_STATES, type PackageState } from './schema/package-state.ts'

const TRIGGERS: PackageTrigger[] = [
  'submission',
  'content_stored',
  'transfer_referenced',
  'content_fetched',
  'receipt_received',
  'receipt_opened',
  'response_accepted',
  'revocation',
]

test('[PKG-11] the two progressions have the specified order, with alternatives in second place', () => {
  assert.deepEqual(progression('native'), [
    'accepted',
    'encrypted_available',
    'delivered',
    'received',
    'opened',
    'responded',
  ])
  assert.deepEqual(progression('ds_x'), [
    'accepted',
    'transfer_started',
    'delivered',
    'received',
    'opened',
    'responded',
  ])
})

test('[PKG-11] each row names its basis: the specification defines creation and revocation', () => {
  const fixed = PACKAGE_TRANSITIONS.filter(({ basis }) => basis === 'specification')
  assert.deepEqual(
    fixed.map(({ from, to }) => [from, to]),
    [
      ['none', 'accepted'],
      ['before_access', 'revoked'],
    ],
  )
})

test('[PKG-11] an event moves a package forward and implies the states in between', () => {
  assert.deepEqual(movePackage('accepted', 'content_stored', 'native'), {
    outcome: 'moved',
    to: 'encrypted_available',
    implied: [],
  })
  assert.deepEqual(movePackage('accepted', 'content_fetched', 'native'), {
    outcome: 'moved',
    to: 'delivered',
    implied: ['encrypted_available'],
  })
  assert.deepEqual(movePackage('accepted', 'receipt_received', 'ds_x'), {
    outcome: 'moved',
    to: 'received',
    implied: ['transfer_started', 'delivered'],
  })
  assert.deepEqual(movePackage('delivered', 'response_accepted', 'native'), {
    outcome: 'moved',
    to: 'responded',
    implied: ['received', 'opened'],
  })
})

test('[PKG-08] a receipt for an earlier state is recorded without a state change', () => {
  assert.deepEqual(movePackage('opened', 'receipt_received', 'native'), { outcome: 'recorded' })
  assert.deepEqual(movePackage('responded', 'receipt_opened', 'native'), { outcome: 'recorded' })
})

test('[PKG-10] a package can be revoked once, in every state before access', () => {
  const allowed = PACKAGE_STATES.filter(
    (state) => movePackage(state, 'revocation', 'native').outcome === 'moved',
  )
  assert.deepEqual(allowed, ['accepted', 'encrypted_available', 'transfer_started', 'delivered', 'received'])
  assert.ok(hasBeenAccessed('opened') && !hasBeenAccessed('received'))
})

test('[PKG-08][PKG-11] a revoked package records receipts, refuses every other event and never moves', () => {
  for (const trigger of TRIGGERS) {
    const { outcome } = movePackage('revoked', trigger, 'native')
    assert.equal(outcome, trigger.startsWith('receipt_') ? 'recorded' : 'refused', trigger)
  }
})

test('[PKG-11] for any sequence of events, the state never moves backwards and never leaves revoked', () => {
  const facts = fc.array(fc.constantFrom(...TRIGGERS), { maxLength: 30 })
  fc.assert(
    fc.property(facts, fc.constantFrom('native', 'ds_x'), (triggers, transport) => {
      const order: PackageState[] = [...progression(transport), 'revoked']
      let state: PackageState = 'accepted'
      for (const trigger of triggers) {
        const move = movePackage(state, trigger, transport)
        if (move.outcome !== 'moved') continue
        assert.ok(order.indexOf(move.to) > order.indexOf(state), `${state} → ${move.to}`)
        if (trigger !== 'revocation') {
          assert.deepEqual(move.implied, order.slice(order.indexOf(state) + 1, order.indexOf(move.to)))
        }
        state = move.to
      }
    }),
  )
})

test('[PKG-11] an event of the other transport mode is refused', () => {
  assert.equal(movePackage('accepted', 'content_fetched', 'ds_x').outcome, 'refused')
  assert.equal(movePackage('accepted', 'transfer_referenced', 'native').outcome, 'refused')
  assert.equal(movePackage('accepted', 'submission', 'native').outcome, 'refused')
})

test('[EVT-02] the default events are the three shown; a deployment can add others, and acceptance always emits one', () => {
  const emitted = PACKAGE_STATES.map((state) => eventTypeFor(state)).filter((type) => type !== undefined)
  assert.deepEqual(emitted, ['package.accepted', 'package.delivered', 'package.received'])
  const more = createProfile({ 'O-10': { states: ['revoked'] } })
  assert.ok(more.ok)
  assert.equal(eventTypeFor('revoked', more.profile), 'package.revoked')
  assert.equal(eventTypeFor('accepted', more.profile), 'package.accepted')
  assert.equal(eventTypeFor('delivered', more.profile), undefined)
})

test('a deployment can disable a transition or define access earlier', () => {
  const result = createProfile({
    'O-03': { content_fetched: false },
    'O-04': { access_states: ['delivered', 'opened', 'responded'] },
  })
  assert.ok(result.ok)
  assert.deepEqual(movePackage('accepted', 'content_fetched', 'native', result.profile), {
    outcome: 'recorded',
  })
  assert.equal(movePackage('delivered', 'revocation', 'native', result.profile).outcome, 'refused')
})
