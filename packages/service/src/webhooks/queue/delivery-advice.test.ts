import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERROR_CLASSES } from '../worker/classify-attempt.ts'
import { adviseOnDelivery, type DeliverySituation } from './delivery-advice.ts'

const failed: DeliverySituation = { state: 'failed', isReplayed: false, endpointStatus: 'active' }

test('the advice names the cause, and a replay only where it can help', () => {
  assert.match(adviseOnDelivery({ ...failed, status: 403 }), /signature base[^]*replay the delivery/)
  assert.match(adviseOnDelivery({ ...failed, status: 404 }), /path of the URL[^]*replay the delivery/)
  assert.match(adviseOnDelivery({ ...failed, status: 302 }), /follow no redirect/)
  assert.match(adviseOnDelivery({ ...failed, status: 400 }), /refused the event \(400\)/)
  assert.match(adviseOnDelivery({ ...failed, state: 'dead', status: 500 }), /failed \(500\)[^]*replay/)
  assert.match(adviseOnDelivery({ ...failed, state: 'pending', status: 503 }), /overloaded[^]*without action/)
  for (const errorClass of ERROR_CLASSES)
    assert.match(adviseOnDelivery({ ...failed, errorClass }), /\. When the receiver works again, replay/)
  assert.equal(adviseOnDelivery(failed), 'When the receiver works again, replay the delivery.')
})

test('no replay is advised where it would be refused', () => {
  const situations: DeliverySituation[] = [
    { ...failed, state: 'delivered' },
    { ...failed, state: 'pending' },
    { ...failed, isReplayed: true },
    { ...failed, endpointStatus: 'deleted' },
  ]
  for (const situation of situations)
    assert.doesNotMatch(adviseOnDelivery(situation), /replay the delivery/, JSON.stringify(situation))
  assert.match(
    adviseOnDelivery({ ...failed, endpointStatus: 'disabled' }),
    /^The endpoint is disabled.*Enable it/,
  )
})
