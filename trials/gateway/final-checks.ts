import assert from 'node:assert/strict'
import { formatPolicy, parsePolicy, parseVerifierKey, verifyCapsuleFile } from '@agent-exchange/log'
import { until } from '@agent-exchange/testkit'
import { each } from '../shared/ledger-checks.ts'
import { programOf, type Ledger } from './company-program.ts'
import type { Company } from './company.ts'
import type { Market } from './scene.ts'

const REST_MS = 120_000

/** Nothing lost, nothing sent twice, nothing handled after its result was stored. */
export async function checkLedger({ exchange, companies }: Market, ledger: Ledger): Promise<string> {
  const { asked, answered, heard, arrived, repeated } = ledger
  assert.deepEqual(repeated, [], 'given out after done was confirmed')
  for (const [text, packageId] of asked) {
    assert.deepEqual([...(heard.get(text) ?? [])], [packageId], `packages of the question ${text}`)
    assert.ok(arrived.has(answered.get(packageId) ?? ''), `the answer to ${packageId} is lost`)
  }
  const all = asked.size + answered.size
  const [counts] = await exchange.sql<Record<string, number>[]>`
    select (select count(*) from package)::int as packages,
      (select count(*) from (select from package where responds_to_package_id is not null
        group by responds_to_package_id having count(*) > 1) as twice)::int as answered_twice,
      (select count(*) from package_receipt where state = 'opened')::int as opened,
      (select count(distinct package_id) from package_receipt where state = 'opened')::int as opened_once`
  assert.deepEqual(
    { ...counts },
    { packages: all, answered_twice: 0, opened: all, opened_once: all },
    'at the exchange',
  )
  for (const company of companies) await checkStores(company, all / 2)
  return `${all} packages`
}

/** Events about the company's own packages may still be on their way. */
async function checkStores({ db, name }: Company, received: number): Promise<void> {
  const isAtRest = async () =>
    (await db`select from agent_event where state = 'pending' limit 1`).length === 0
  await until(`${name} has processed its events`, isAtRest, { limitMs: REST_MS, pollMs: 200 })
  const [counts] = await db<Record<string, number>[]>`
    select (select count(*) from inbox_item where state = 'done')::int as done,
      (select count(*) from inbox_item where state <> 'done')::int as not_done,
      (select count(*) from agent_event where state <> 'processed')::int as unprocessed,
      (select count(*) from agent_outbox where state <> 'accepted')::int as unsent`
  assert.deepEqual({ ...counts }, { done: received, not_done: 0, unprocessed: 0, unsent: 0 }, name)
}

/** The capsule of each package, from its recipient, with the key of the log pinned. */
export async function checkCapsules({ exchange, companies }: Market, ledger: Ledger): Promise<string> {
  const shown = (await (await fetch(`${exchange.url}/log/key`)).json()) as { verifier_keys: string[] }
  const logs = shown.verifier_keys.map(parseVerifierKey)
  const policy = parsePolicy(formatPolicy({ logs, witnesses: [], isConfirmed: true }))
  const packages = [...ledger.asked.values(), ...ledger.answered.values()]
  const programs = companies.map((company) => programOf(company, company.keys.auditing, ledger))
  const words = new Map<string, number>()
  let turn = 0
  await each(packages, async (packageId) => {
    const capsule = await programs[(turn += 1) % programs.length]?.capsule(packageId)
    const bytes = new TextEncoder().encode(JSON.stringify(capsule))
    const { word, outcome, contradictions } = await verifyCapsuleFile(bytes, {
      policy,
      require: 'log-signed',
    })
    assert.deepEqual([outcome, contradictions], ['meets', []], packageId)
    words.set(word, (words.get(word) ?? 0) + 1)
  })
  return [...words].map(([word, count]) => `${count} ${word}`).join(', ')
}
