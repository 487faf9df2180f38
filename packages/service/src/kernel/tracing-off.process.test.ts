import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { test } from 'node:test'

const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})

test('without tracing, no code of the OpenTelemetry SDK or of ours for it is loaded', async () => {
  const { allDelivered, deliveryWorld } = await import('@agent-exchange/testkit')
  const tracingCode = () =>
    loaded.filter((url) => /@opentelemetry\/(?!api\/)|\/(?:open-)?trac(?:ing|er)\.ts$/u.test(url))
  {
    await using made = await deliveryWorld()
    await made.endpoint()
    await made.event()
    await made.until(allDelivered, 'delivered')
  }
  assert.ok(loaded.some((url) => url.endsWith('/service.ts')))
  assert.deepEqual(
    tracingCode().filter((url) => !url.endsWith('/settings/tracing.ts')),
    [],
  )
  // Control: with it, the same search finds the code.
  const { openTracing } = await import('./open-tracing.ts')
  assert.equal(typeof openTracing, 'function')
  assert.ok(tracingCode().some((url) => url.includes('@opentelemetry/sdk-trace')))
})
