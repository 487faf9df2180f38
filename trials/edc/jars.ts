import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const POM = join(import.meta.dirname, 'pom.xml')
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/agent-exchange')
const MAVEN_MS = 15 * 60_000
const OFFLINE =
  /Could not transfer|Unknown host|UnknownHostException|Connection (?:refused|timed out)|Network is unreachable|Connect to /u

/** The folder with the connector's jars, or why there is none. */
export type Jars = { readonly folder: string } | { readonly skipped: string } | { readonly failed: string }

/** Jars of the pom, from the cache or from Maven Central. Without Java, Maven or a network there is nothing to run. */
export function findJars(): Jars {
  if (!runs('java', ['-version']))
    return { skipped: 'java was not found; install a Java runtime, 17 or later' }
  const folder = join(
    CACHE,
    `edc-${createHash('sha256').update(readFileSync(POM)).digest('hex').slice(0, 12)}`,
  )
  if (existsSync(join(folder, 'complete'))) return { folder }
  if (!runs('mvn', ['-version']))
    return { skipped: 'mvn was not found; install Maven to bring the connector' }
  const draft = `${folder}.new`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(CACHE, { recursive: true })
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${draft}`]
  const maven = spawnSync('mvn', ['-B', '-q', '-f', POM, ...goal], { encoding: 'utf8', timeout: MAVEN_MS })
  const said = `${maven.stdout}${maven.stderr}`
  if (maven.status !== 0 && OFFLINE.test(said)) return { skipped: 'Maven Central cannot be reached' }
  if (maven.status !== 0) return { failed: `Maven could not bring the connector:\n${said.slice(-2_000)}` }
  writeFileSync(join(draft, 'complete'), '')
  rmSync(folder, { recursive: true, force: true })
  renameSync(draft, folder)
  return { folder }
}

function runs(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}
