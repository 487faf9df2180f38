import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { foundCompany } from './company.ts'
import { startDemoExchange, type DemoExchange } from './demo-exchange.ts'
import { searchForPlaintext, type SearchResult } from './plaintext-search.ts'
import { reportPage, type Outcome } from './report.ts'
import { seenLine, storedForm } from './seen-by-exchange.ts'
import { tellStory, type Cast, type Told } from './story.ts'
import { SECRET_WORDS } from './story-objects.ts'
import { throwawayCertificate } from './throwaway-certificate.ts'
import type { Timeline } from './timeline.ts'

export interface DemoOptions {
  readonly transport: 'native' | 'ds_x'
  readonly timeline: Timeline
  readonly now: () => Date
  /** Shown while something takes seconds; undefined ends it. */
  readonly onWait?: (what: string | undefined) => void
}

/** A finished demo that is still running. Disposing of it removes everything that it created. */
export interface Demo extends AsyncDisposable {
  readonly exchange: DemoExchange
  readonly cast: Cast
  readonly told: Told
  readonly outcome: Outcome
  readonly page: string
}

/** Two companies, an exchange between them, and the whole story, for real. */
export async function runDemo({ transport, timeline, now, onWait }: DemoOptions): Promise<Demo> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const folder = mkdtempSync(join(tmpdir(), 'aex-demo-'))
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  // Started by root, PostgreSQL runs as another user, who has to get through to its own folder.
  chmodSync(folder, 0o711)

  timeline.chapter('An exchange and two companies')
  const certificate = await throwawayCertificate(now())
  onWait?.('Starting a database and an exchange')
  const exchange = cleanup.use(
    await startDemoExchange(folder, certificate.certificate).finally(() => onWait?.(undefined)),
  )
  timeline.add({
    who: 'exchange',
    kind: 'note',
    what: 'is up, on a PostgreSQL of its own',
    detail: exchange.url,
  })
  const space = transport === 'ds_x' ? cleanup.use(await dataSpace(timeline)) : undefined
  const shared = { certificate, timeline }
  const manufacturer = cleanup.use(
    await foundCompany(exchange, {
      ...shared,
      lane: 'manufacturer',
      organizationId: 'org_carmaker',
      agentId: 'agent_carmaker_planner',
      folder: join(folder, 'carmaker'),
      ...(space && { dataSpace: space.of('manufacturer') }),
    }),
  )
  const supplier = cleanup.use(
    await foundCompany(exchange, {
      ...shared,
      lane: 'supplier',
      organizationId: 'org_seats',
      agentId: 'agent_seats_planner',
      folder: join(folder, 'seats'),
      ...(space && { dataSpace: space.of('supplier') }),
    }),
  )
  await space?.approve(exchange)
  const seen = (packageId: string) => seenLine(exchange, packageId)
  const cast: Cast = { manufacturer, supplier, timeline, transport, now, seen }
  const told = await tellStory(cast)
  const search = await searchForPlaintext(exchange, SECRET_WORDS)
  timeline.add({ who: 'exchange', kind: 'proof', what: sentenceOf(search) })
  const outcome = await outcomeOf({ exchange, cast, told, search })
  const stop = undo.move()
  return {
    exchange,
    cast,
    told,
    outcome,
    page: reportPage(timeline, outcome),
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
}

/** Loaded on demand: the simulator is not among the published packages. */
async function dataSpace(timeline: Timeline) {
  const { startDemoDataSpace } = await import('./demo-data-space.ts')
  return startDemoDataSpace(timeline)
}

function sentenceOf({ files, rows, logLines, found }: SearchResult): string {
  const where = `${files} files, ${rows} rows and ${logLines} log lines of the exchange`
  return found.length === 0
    ? `none of the plaintext is in ${where}`
    : `PLAINTEXT FOUND in ${found.join(', ')} (of ${where})`
}

interface Ended {
  readonly exchange: DemoExchange
  readonly cast: Cast
  readonly told: Told
  readonly search: SearchResult
}

async function outcomeOf({ exchange, cast, told, search }: Ended): Promise<Outcome> {
  const { manufacturer, supplier, transport } = cast
  const checks = [...told.evidence.manufacturer.checks, ...told.evidence.supplier.checks]
  return {
    transport,
    counts: [
      { what: 'packages', count: told.packageIds.length },
      { what: 'signed receipts', count: told.receipts },
      {
        what: 'events delivered by signed webhook',
        count: manufacturer.events.length + supplier.events.length,
      },
      { what: 'checks of the evidence hold', count: checks.filter(({ ok }) => ok).length },
      { what: 'checks fail', count: checks.filter(({ ok }) => !ok).length },
    ],
    seen: {
      plaintext: JSON.stringify(told.first, undefined, 2),
      stored: await storedForm(exchange, told.packageIds[0] ?? ''),
    },
    evidence: told.evidence.manufacturer,
    search: `${sentenceOf(search)}.`.replace(/^./u, (letter) => letter.toUpperCase()),
  }
}
