import assert from 'node:assert/strict'
import { testDatabase, type Organization } from '@agent-exchange/testkit'
import { setTimeout as sleep } from 'node:timers/promises'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import {
  checkAttempts,
  checkChains,
  checkStreams,
  checkTables,
  each,
  streamReader,
} from '../shared/ledger-checks.ts'
import { newAttempt, startLoad, type Ledger } from '../shared/ledger.ts'
import type { Report, Trial } from './trial.ts'

const IDENTICAL = 50
const RECEIVERS = 100
const LOAD = { clients: 12, attempts: 25 }
const POLL_MS = 5

export const twoProcesses: Trial = {
  name: 'two-processes',
  what: '[API-04][EVT-04][EVT-10] two processes on one database: equal responses, gapless streams, readers that miss nothing',
  async run(report) {
    await using database = await testDatabase()
    await using one = await startExchange({ databaseUrl: database.url })
    await using two = await startExchange({ beside: one })
    const ledger: Ledger = []
    await identical(one, two, ledger, report)
    await stream(one, two, ledger, 1, report)
    await stream(one, two, ledger, RECEIVERS, report)
    await checkTables(one, ledger)
  },
}

/** Sends fifty concurrent identical requests to both processes. */
async function identical(one: Exchange, two: Exchange, ledger: Ledger, report: Report): Promise<void> {
  const [from, to] = await Promise.all([one.organization('seats'), one.organization('cars')])
  const attempt = await newAttempt(from, to)
  const { draft, packageKey, receiptKey } = attempt
  await from.token()
  const spread = (path: string, body: unknown, idempotencyKey: string) =>
    Promise.all(
      Array.from({ length: IDENTICAL }, (_, number) =>
        from.post(path, body, { idempotencyKey, at: number % 2 === 0 ? one.url : two.url }),
      ),
    )
  for (const [path, body, key, status] of [
    ['/v1/policy-receipts', draft.receipt, receiptKey, 201],
    ['/v1/packages', draft.body, packageKey, 202],
  ] as const) {
    const answers = await spread(path, body, key)
    const different = new Set(answers.map((answer) => `${answer.status} ${answer.text}`))
    assert.equal(different.size, 1, [...different].join('\n'))
    assert.equal(answers[0]?.status, status)
    attempt.answer = answers[0]?.text
  }
  ledger.push(attempt)
  report.line(
    `${IDENTICAL} identical receipts and ${IDENTICAL} identical packages: one of each, equal responses`,
  )
}

/** Writers on both processes, with concurrent readers on either of them. */
async function stream(
  one: Exchange,
  two: Exchange,
  ledger: Ledger,
  receivers: number,
  report: Report,
): Promise<void> {
  const senders = await Promise.all([one.organization('left'), one.organization('right')])
  const receiving: Organization[] = []
  await each(
    Array.from({ length: receivers }, (_, number) => `r${number}`),
    async (name) => void receiving.push(await one.organization(name)),
  )
  const pairs = receiving.map((to, number) => [senders[number % 2] ?? senders[0], to] as const)
  const mine: Ledger = []
  const at = [one.url, two.url]
  const spread = receivers === 1 ? { pairs } : { pairs: [...pairs], eachAttempt: true }
  const load = startLoad(mine, { ...LOAD, ...spread, at })
  const parties = [...senders, ...receiving]
  const readers = new Map(parties.map((party, number) => [party, streamReader(party, at[number % 2])]))
  // The streams of the senders contain every event; so does that of a single receiver.
  const followed = [...senders, ...receiving.slice(0, 4)].flatMap((party) => readers.get(party) ?? [])
  let isOver = false
  let polls = 0
  const polling = Promise.all(
    followed.map(async (reader) => {
      while (!isOver) {
        await reader.read()
        polls += 1
        await sleep(POLL_MS)
      }
    }),
  )
  await load.finished
  isOver = true
  await polling
  await each([...readers.values()], (reader) => reader.read())
  checkStreams(mine, readers)
  await checkAttempts(mine)
  await checkChains(mine)
  ledger.push(...mine)
  report.line(
    `${receivers} receivers: ${mine.length} packages through both processes, ${readers.size} gapless streams, ` +
      `${polls} concurrent polls missed none`,
  )
}
