import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { FOUND_BY_MONITORS } from './cheated-monitors.fixture.ts'
import { FOUND_BY_STRANGERS } from './cheated-strangers.fixture.ts'
import { FOUND_BY_VIEWS } from './cheated-views.fixture.ts'
import { Operator, startCheatingExchange } from './cheating-exchange.fixture.ts'
import { forged, stranger, unchanged } from './cheating-way.fixture.ts'

const exchange = await startCheatingExchange()
after(() => exchange[Symbol.asyncDispose]())

test('[AUD-03] an honest operator is not accused: by a stranger, or by the monitor of a party', async () => {
  assert.deepEqual((await stranger(await forged(exchange, unchanged))).codes, [])
  assert.deepEqual((await new Operator(exchange).scan()).kinds, [])
})

for (const { operator, noticedBy, codes, play } of [
  ...FOUND_BY_STRANGERS,
  ...FOUND_BY_MONITORS,
  ...FOUND_BY_VIEWS,
])
  test(`[AUD-03] an operator who ${operator} is found by ${noticedBy}`, async (t) => {
    exchange.proxy.before = () => undefined
    exchange.proxy.after = (_, reply) => reply
    const noticed = await play(exchange)
    t.diagnostic(`${operator}: noticed by ${noticedBy}, as ${noticed.codes.join(' and ')}, ${noticed.after}`)
    for (const code of codes) assert.ok(noticed.codes.includes(code), `${code}: ${noticed.codes.join()}`)
  })
