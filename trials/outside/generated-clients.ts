import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { fetched, mustFetch, mustRun, requireProgram } from '../shared/programs.ts'
import { pythonWith } from '../shared/python-environment.ts'
import type { Trial } from './schemathesis.ts'

const GENERATOR = {
  name: 'openapi-generator-cli-7.11.0.jar',
  url: 'https://repo1.maven.org/maven2/org/openapitools/openapi-generator-cli/7.11.0/openapi-generator-cli-7.11.0.jar',
  sha256: '113c25df5a781d5a1fc2b883f12fe8f263db285ab12e15854d5b15306e1bf7fc',
}
const TOOL = 'openapi-generator'
const STEP_MS = 180_000

/** Dependencies of the generated Python client, and jwcrypto for keys and signatures. */
const PYTHON_PACKAGES = [
  'urllib3==2.5.0',
  'python-dateutil==2.9.0.post0',
  'pydantic==2.12.4',
  'typing-extensions==4.15.0',
  'jwcrypto==1.5.6',
]

/** Known limitations of the generator, which does not support mutualTLS. */
const KNOWN_COMPLAINTS =
  /mutualTLS|OpenAPI 3\.1 support is still in beta|Failed to get the schema name: null/u

/** Generates clients in three languages from the OpenAPI document. */
export async function tryGeneratedClients(trial: Trial): Promise<void> {
  const { folder, report } = trial
  let jar = ''
  const isThere = await report.step(TOOL, 'the generator', async () => {
    jar = await findGenerator()
    return GENERATOR.name
  })
  if (!isThere) return
  const { document } = trial.exchange
  const generate = (language: string) => generatedClient(jar, language, { document, folder })

  await report.step(TOOL, 'Python: compiles, registers, signs, pages', async () => {
    const python = await pythonOfClient()
    const { place, complaints } = await generate('python')
    await mustRun(python, ['-m', 'compileall', '-q', 'openapi_client'], { cwd: place, limitMs: STEP_MS })
    return `${await runPythonAgent(python, place, trial)}${complaints}`
  })
  await report.step(TOOL, 'Go: builds', async () => {
    requireProgram('go', 'version')
    const { place, complaints } = await generate('go')
    const env = { GOFLAGS: '-mod=mod' }
    await mustFetch('the Go modules', 'go', ['mod', 'tidy'], { cwd: place, env, limitMs: STEP_MS })
    await mustRun('go', ['build', './...'], { cwd: place, env, limitMs: STEP_MS })
    return `go build ./...${complaints}`
  })
  await report.step(TOOL, 'TypeScript: compiles', async () => {
    const { place, complaints } = await generate('typescript-fetch')
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    const tsc = join(ROOT, 'node_modules/.bin/tsc')
    await mustRun(tsc, ['-p', place], { cwd: folder, limitMs: STEP_MS })
    return `tsc${complaints}`
  })
}

/** The path of the generator, once downloaded. */
export async function findGenerator(): Promise<string> {
  requireProgram('java', '-version')
  return fetched(GENERATOR)
}

/** A Python interpreter with what a generated client imports. */
export const pythonOfClient = () => pythonWith('generated-client', PYTHON_PACKAGES)

const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    outDir: 'built',
    rootDir: '.',
  },
  include: ['**/*.ts'],
}

/** The generator exits with 0 despite errors, so its output is checked. */
export async function generatedClient(
  jar: string,
  language: string,
  { document, folder }: { readonly document: string; readonly folder: string },
) {
  const place = join(folder, language)
  const args = ['-jar', jar, 'generate', '-i', document, '-g', language, '-o', place]
  const output = await mustRun('java', args, { limitMs: STEP_MS })
  const complaints = output
    .split('\n')
    .filter((line) => /\b(?:ERROR|sibling)\b/u.test(line) && !KNOWN_COMPLAINTS.test(line))
  if (complaints.length > 0) throw new Error(`reports errors in the document\n${complaints.join('\n')}`)
  const warnings = output.split('\n').filter((line) => /\bWARN\b/u.test(line) && !KNOWN_COMPLAINTS.test(line))
  return { place, complaints: warnings.length > 0 ? `, ${warnings.length} warnings` : '' }
}

async function runPythonAgent(python: string, place: string, { exchange }: Trial): Promise<string> {
  cpSync(join(import.meta.dirname, 'python_agent.py'), join(place, 'python_agent.py'))
  const { organizationId } = exchange.organization
  const { organizationId: recipientOrganization, agentId: recipientAgent } = exchange.scene.recipient
  const output = await mustRun(python, ['-B', 'python_agent.py'], {
    cwd: place,
    env: {
      AEX_URL: exchange.url,
      AEX_TOKEN: await exchange.organization.token(),
      AEX_ORGANIZATION: organizationId,
      AEX_RECIPIENT: `${recipientOrganization} ${recipientAgent}`,
    },
    limitMs: STEP_MS,
  })
  return output.trim().split('\n').at(-1) ?? ''
}
