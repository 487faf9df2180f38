import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { searchForPlaintext, type SearchResult } from '@agent-exchange/testkit'
import { startDemoExchange, type DemoExchange } from './demo-exchange.ts'
import { performWithGateway } from './gateway-driver.ts'
import { performWithModels, type ApproveAtDesk } from './model-driver.ts'
import { reportPage, type Outcome } from './report.ts'
import { performWithSdk } from './sdk-driver.ts'
import { seenLine, storedForm } from './seen-by-exchange.ts'
import type { Performance, Stage, Transport } from './stage.ts'
import { tellStory, type StoryDriver, type StoryResult } from './story.ts'
import { SECRET_WORDS } from './story-objects.ts'

export interface DemoOptions extends Pick<Stage, 'timeline' | 'now' | 'onWait'> {
  readonly transport: Transport
  /** Two scripted models do it through MCP; native transport only. */
  readonly mcp?: { readonly approve?: ApproveAtDesk }
  /** The supplier is a Python program with a gateway; native transport only. */
  readonly gateway?: boolean
}

/** A finished demo that is still running. Disposing of it removes everything that it created. */
export interface Demo extends AsyncDisposable, Pick<Performance, 'deskLink'>, Pick<StoryDriver, 'agents'> {
  readonly exchange: DemoExchange
  readonly story: StoryResult
  readonly outcome: Outcome
  readonly page: string
}

/** Two companies, an exchange between them, and the whole story, for real. */
export async function runDemo({
  transport,
  mcp,
  gateway,
  timeline,
  now,
  onWait,
}: DemoOptions): Promise<Demo> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const folder = mkdtempSync(join(tmpdir(), 'aex-demo-'))
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  // Started by root, PostgreSQL runs as another user, who has to get through to its own folder.
  chmodSync(folder, 0o711)

  timeline.chapter('An exchange and two companies')
  onWait?.('Starting a database and an exchange')
  const exchange = cleanup.use(await startDemoExchange(folder).finally(() => onWait?.(undefined)))
  timeline.add({
    who: 'exchange',
    kind: 'note',
    what: 'is up, on a PostgreSQL of its own',
    detail: exchange.url,
  })
  const stage: Stage = { exchange, folder, timeline, now, cleanup, ...(onWait && { onWait }) }
  const perform = () =>
    mcp
      ? performWithModels(stage, mcp.approve)
      : gateway
        ? performWithGateway(stage)
        : performWithSdk(stage, transport)
  const { driver, counts, ...performance } = await perform()
  const seen = (packageId: string) => seenLine(exchange, packageId)
  const story = await tellStory({ driver, timeline, now, seen })
  const search = await searchForPlaintext(exchange, SECRET_WORDS)
  timeline.add({ who: 'exchange', kind: 'proof', what: sentenceOf(search) })
  const outcome: Outcome = {
    transport,
    counts: countsOf(story, counts()),
    story: story.text,
    seen: {
      plaintext: JSON.stringify(story.first, undefined, 2),
      stored: await storedForm(exchange, story.packageIds[0] ?? ''),
    },
    evidence: story.evidence.manufacturer,
    search: `${sentenceOf(search)}.`.replace(/^./u, (letter) => letter.toUpperCase()),
  }
  const stop = undo.move()
  return {
    ...performance,
    agents: driver.agents,
    exchange,
    story,
    outcome,
    page: reportPage(timeline, outcome),
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
}

function sentenceOf({ files, rows, logLines, found }: SearchResult): string {
  const where = `${files} files, ${rows} rows and ${logLines} log lines of the exchange`
  return found.length === 0
    ? `none of the plaintext is in ${where}`
    : `PLAINTEXT FOUND in ${found.join(', ')} (of ${where})`
}

function countsOf(
  { packageIds, receipts, evidence }: StoryResult,
  own: Outcome['counts'],
): Outcome['counts'] {
  const checks = [...evidence.manufacturer.checks, ...evidence.supplier.checks]
  return [
    { what: 'packages', count: packageIds.length },
    { what: 'signed receipts', count: receipts },
    ...own,
    { what: 'checks of the evidence hold', count: checks.filter(({ result }) => result === 'holds').length },
    { what: 'checks fail', count: checks.filter(({ result }) => result === 'fails').length },
  ]
}
