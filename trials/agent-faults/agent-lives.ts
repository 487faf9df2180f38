import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { Connection } from '../../packages/sdk/src/connection/connection.ts'
import { signedDelivery, type TestKey } from '../../packages/sdk/src/receive/delivery.fixture.ts'
import type { AgentTask } from './receive-agent.ts'

/** Events that may arrive again. */
const RECENT_EVENTS = 6

/** A life of the agent: a process that is killed. */
export interface Life {
  readonly process: ChildProcess
  /** Undefined where it died before it could serve. */
  readonly port: number | undefined
  /** The signal or the exit code. */
  readonly ended: Promise<NodeJS.Signals | number | null>
}

export async function spawnAgent(program: string, folder: string, task: AgentTask): Promise<Life> {
  const file = join(folder, 'task.json')
  writeFileSync(file, JSON.stringify(task))
  const child = spawn(process.execPath, ['-C', 'source', join(import.meta.dirname, program), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(
    ([code, signal]) => (signal ?? code) as NodeJS.Signals | number | null,
  )
  const port = await Promise.race([
    once(child.stdout, 'data').then(([data]) => Number(String(data))),
    ended.then(() => undefined),
  ])
  return { process: child, port, ended }
}

/** Delivers what the stream has until the agent is dead; returns the ids of what it answered with 204. */
export async function besiege(agent: Life, connection: Connection, key: TestKey): Promise<Set<string>> {
  const taken = new Set<string>()
  const { port } = agent
  if (port === undefined) return taken
  const events = await wholeStream(connection)
  let isOver = false
  void agent.ended.then(() => (isOver = true))
  for (let tries = 0; !isOver && tries < 10_000; tries++) {
    const recent = events.slice(-RECENT_EVENTS)
    const event = recent[Math.floor(Math.random() * recent.length)]
    if (!event) break
    const { headers, body } = await signedDelivery(key, event, { created: new Date() })
    const status: number | undefined = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers,
      body,
    }).then(
      (response) => response.status,
      () => undefined,
    )
    if (status === 204) taken.add(event.event_id)
    else if (status !== undefined) assert.equal(status, 503)
    await sleep(Math.random() * 10)
  }
  return taken
}

async function wholeStream(connection: Connection): Promise<NotificationEnvelope[]> {
  const events: NotificationEnvelope[] = []
  let after: string | undefined
  for (let hasMore = true; hasMore;) {
    const page = await connection.call('listNotifications', { query: { after, limit: 1_000 } })
    events.push(...page.items)
    after = page.next_cursor
    hasMore = page.has_more
  }
  return events
}

/** What the agent says of its inbox. */
export async function statusOf({ port }: Life): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`http://127.0.0.1:${port}/status`)
  return (await response.json()) as Record<string, number>
}
