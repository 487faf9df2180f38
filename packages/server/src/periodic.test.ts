import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { startPeriodic } from './periodic.ts'

const HOUR = 3_600

test('a task runs at the start only if it asks for it; the start does not wait, and disposal does', async () => {
  const logged: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) })
  const ran: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const running = startPeriodic(
    [
      { name: 'later', everySeconds: HOUR, run: async () => ran.push('later') },
      {
        name: 'slow',
        everySeconds: HOUR,
        atStart: true,
        async run(signal) {
          await promise
          ran.push(signal.aborted ? 'slow, aborted' : 'slow')
        },
      },
      { name: 'broken', everySeconds: HOUR, atStart: true, run: () => Promise.reject(new Error('no table')) },
    ],
    log,
  )
  assert.deepEqual(ran, [])
  const disposed = running[Symbol.asyncDispose]()
  resolve()
  await disposed
  assert.deepEqual(ran, ['slow, aborted'])
  const failures = logged.map((line) => (JSON.parse(line) as { task?: string }).task)
  assert.deepEqual(failures, ['broken'])
})

test('disposal does not wait for ever for a task that hangs, and the log names it', async () => {
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) })
  const hang = () => new Promise<never>(() => undefined)
  const running = startPeriodic(
    [
      { name: 'hangs', everySeconds: HOUR, atStart: true, run: hang },
      { name: 'quick', everySeconds: HOUR, atStart: true, run: () => Promise.resolve() },
    ],
    log,
    50,
  )
  await running[Symbol.asyncDispose]()
  assert.deepEqual(
    logged.map((line) => (JSON.parse(line) as { tasks?: string[] }).tasks),
    [['hangs']],
  )
})
