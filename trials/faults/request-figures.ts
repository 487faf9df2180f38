import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { withinTime } from '@agent-exchange/server/within-time'

const REQUEST_LIMIT_MS = 10_000
const PAUSE_MS = 50

/** How requests of one kind fared. */
export interface Figures {
  readonly answered: number
  /** Responses other than 2xx, and requests without a response in time. */
  readonly refused: number
  readonly medianMs: number
  readonly maximumMs: number
}

/** Sends one request after the other for a time. */
export async function measureRequests(
  forMs: number,
  request: () => Promise<{ readonly status: number }>,
): Promise<Figures> {
  const times: number[] = []
  let refused = 0
  const end = performance.now() + forMs
  while (performance.now() < end) {
    const startedAt = performance.now()
    let status = 0
    const asked = request().then(
      (answer) => (status = answer.status),
      () => undefined,
    )
    await withinTime(asked, REQUEST_LIMIT_MS)
    times.push(performance.now() - startedAt)
    if (status < 200 || status > 299) refused += 1
    await sleep(PAUSE_MS)
  }
  const sorted = times.toSorted((one, other) => one - other)
  return {
    answered: times.length - refused,
    refused,
    medianMs: Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0),
    maximumMs: Math.round(sorted.at(-1) ?? 0),
  }
}

export function show({ answered, refused, medianMs, maximumMs }: Figures): string {
  return `${answered} answered, ${refused} refused, median ${medianMs} ms, maximum ${maximumMs} ms`
}

/** Resident memory of a process in MiB, and its maximum while `work` runs. */
export async function peakMemory<T>(pid: number, work: () => Promise<T>) {
  const before = residentMebibytes(pid)
  let peak = before
  const sampling = setInterval(() => (peak = Math.max(peak, residentMebibytes(pid))), 100)
  try {
    const result = await work()
    return { result, before, peak }
  } finally {
    clearInterval(sampling)
  }
}

function residentMebibytes(pid: number): number {
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kibibytes) / 1_024)
}
