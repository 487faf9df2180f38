import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testAuthority, type TestAuthority } from '@agent-exchange/testkit'
import { startExchange, type Exchange } from './exchange.ts'
import { makeFolder, type Folder } from './folder.ts'
import { startPostgres, type PostgresServer } from './postgres-server.ts'

/** The environment of the areas: PostgreSQL with fsync, and exchanges on it. */
export interface TestBed extends AsyncDisposable {
  readonly folder: Folder
  readonly postgres: PostgresServer
  readonly authority: TestAuthority
  /** The exchange with default settings and without TLS; started on first use. */
  main(): Promise<Exchange>
  /** Another exchange with its own database; of another revision if its `aex` is given. */
  exchange(name: string, env?: Readonly<Record<string, string>>, program?: string): Promise<Exchange>
  /** Disposed with the environment. */
  keep<T extends AsyncDisposable>(resource: T): T
  /** Writes a file into the folder and returns its path. */
  file(name: string, text: string): string
  /** The last errors in the logs of all processes. */
  complaints(): string[]
}

export async function startBed(workers: number): Promise<TestBed> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const folder = cleanup.use(makeFolder())
  const postgres = cleanup.use(await startPostgres(folder.path))
  const authority = await testAuthority('Benchmark CA')
  const common = { AEX_WORKERS: String(workers) }
  const release = undo.move()
  let main: Promise<Exchange> | undefined
  const startMain = async () => {
    const options = { name: 'main', database: postgres.main, folder: folder.path, env: common }
    return release.use(await startExchange(options))
  }
  return {
    folder,
    postgres,
    authority,
    main: () => (main ??= startMain()),
    async exchange(name, env = {}, program) {
      const database = await postgres.create(name)
      return startExchange({ name, database, folder: folder.path, env: { ...common, ...env }, program })
    },
    keep: (resource) => release.use(resource),
    file(name, text) {
      const path = join(folder.path, name)
      writeFileSync(path, text, { mode: 0o600 })
      return path
    },
    complaints: () => complaintsIn(folder.path),
    [Symbol.asyncDispose]: () => release.disposeAsync(),
  }
}

/** Adds the logged errors of the services to the failure of a measurement. */
export function explained(error: unknown, bed: TestBed | undefined): unknown {
  const complaints = bed?.complaints() ?? []
  return complaints.length === 0 ? error : new Error(complaints.join('\n'), { cause: error })
}

const ERROR_LEVEL = /"level":[56]0/
const SHOWN_COMPLAINTS = 5

function complaintsIn(folder: string): string[] {
  const logs = readdirSync(folder).filter((name) => name.endsWith('.log'))
  return logs
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => ERROR_LEVEL.test(line))
    .slice(-SHOWN_COMPLAINTS)
}
