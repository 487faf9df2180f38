import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../statistics.ts'

/** The magic number of tmpfs (statfs(2)), where fsync has no cost. */
const TMPFS = 0x01021994
const FSYNC_SAMPLES = 50
const PAGE_BYTES = 8_192

export interface Folder extends Disposable {
  readonly path: string
  /** Whether data survives a crash of the machine. */
  readonly isOnDisk: boolean
  /** Median time to make one page durable. */
  readonly fsyncMs: number
}

/** A temporary folder for databases, in `AEX_BENCH_DIR` or TMPDIR. */
export function makeFolder(): Folder {
  const path = mkdtempSync(join(process.env['AEX_BENCH_DIR'] ?? tmpdir(), 'aex-bench-'))
  // As root, PostgreSQL runs as another user.
  chmodSync(path, 0o711)
  return {
    path,
    isOnDisk: statfsSync(path).type !== TMPFS,
    fsyncMs: measureFsync(join(path, 'fsync-probe')),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  }
}

function measureFsync(file: string): number {
  const page = Buffer.alloc(PAGE_BYTES, 1)
  const handle = openSync(file, 'w')
  const times: number[] = []
  for (let i = 0; i < FSYNC_SAMPLES; i++) {
    const from = performance.now()
    writeSync(handle, page, 0, page.length, 0)
    fsyncSync(handle)
    times.push(performance.now() - from)
  }
  closeSync(handle)
  rmSync(file)
  return median(times)
}
