import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { mustFetch, requireProgram } from '../shared/programs.ts'

const POM = join(import.meta.dirname, 'pom.xml')
const CACHE = join(ROOT, 'node_modules/.cache/agent-exchange')
const MAVEN_MS = 15 * 60_000

/** The folder with the connector's jars, from the cache or from Maven Central. Throws `Skipped` without the tools. */
export async function findJars(): Promise<string> {
  requireProgram('java', '-version')
  const digest = createHash('sha256').update(readFileSync(POM)).digest('hex')
  const folder = join(CACHE, `edc-${digest.slice(0, 12)}`)
  if (existsSync(join(folder, 'complete'))) return folder
  requireProgram('mvn', '-version')
  const draft = `${folder}.new`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(CACHE, { recursive: true })
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${draft}`]
  await mustFetch('Maven', 'mvn', ['-B', '-q', '-f', POM, ...goal], { limitMs: MAVEN_MS })
  writeFileSync(join(draft, 'complete'), '')
  rmSync(folder, { recursive: true, force: true })
  renameSync(draft, folder)
  return folder
}
