import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { endsWithUs } from '../shared/child-processes.ts'

const READY_MS = 30_000
const POLL_MS = 50
const MAXIMUM_KEPT = 20_000

/** A judge that runs as a server on loopback. */
export interface JudgeProcess extends AsyncDisposable {
  /** What it wrote on both streams; the end of it if that is long. */
  output(): string
}

/** Starts a server and waits until `isReady` says so. Disposal ends it. */
export async function startJudge(
  program: string,
  args: readonly string[],
  isReady: (output: string) => Promise<boolean> | boolean,
): Promise<JudgeProcess> {
  const child = endsWithUs(spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] }))
  const ended = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-MAXIMUM_KEPT)))
  const dispose = async () => {
    child.kill('SIGKILL')
    await ended
  }
  for (let waited = 0; !(await isReady(output)); waited += POLL_MS) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null
    if (hasEnded || waited > READY_MS) {
      await dispose()
      throw new Error(`${program} did not start\n${output}`)
    }
    await sleep(POLL_MS)
  }
  return { output: () => output, [Symbol.asyncDispose]: dispose }
}

/** True as soon as something answers HTTP there, whatever the answer. */
export async function answersAt(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined)
  await answer?.body?.cancel()
  return answer !== undefined
}
