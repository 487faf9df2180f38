/**
 * Assembles what the image holds: the published packages, compiled, with the dependencies of the lock file, and a bill of
 * materials. `node deploy/container/assemble.ts FOLDER`, in a checkout where `npm ci` has run.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly files?: readonly string[]
  readonly [member: string]: unknown
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const [target] = process.argv.slice(2)
if (target === undefined) throw new Error('usage: node deploy/container/assemble.ts FOLDER')

const run = (command: string, args: readonly string[], cwd: string) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 67_108_864 })
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Manifest
const write = (path: string, value: object) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)

mkdirSync(target, { recursive: true })
const published = globSync('packages/*/package.json', { cwd: ROOT })
  .map((path) => ({ folder: dirname(path), manifest: read(join(ROOT, path)) }))
  .filter(({ manifest }) => manifest.private !== true)
const folders = published.map(({ folder }) => folder)
run(process.execPath, ['node_modules/typescript/bin/tsc', '-b', ...folders], ROOT)
for (const { folder, manifest } of published) copyPackage(folder, manifest)

const { name, version, license, type, overrides } = read(join(ROOT, 'package.json'))
write(join(target, 'package.json'), {
  name,
  version,
  license,
  type,
  private: true,
  workspaces: folders,
  overrides,
})
// npm keeps the versions of the lock file and drops what no published package needs. The embedded PostgreSQL is optional.
cpSync(join(ROOT, 'package-lock.json'), join(target, 'package-lock.json'))
const quiet = [
  '--omit=dev',
  '--omit=optional',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
]
run('npm', ['install', ...quiet], target)
writeFileSync(
  join(target, 'sbom.cdx.json'),
  run('npm', ['sbom', '--omit=dev', '--omit=optional', '--sbom-format=cyclonedx'], target),
)
cpSync(join(ROOT, 'deploy/container/health-check.js'), join(target, 'health-check.js'))
for (const file of ['README.md', 'LICENSE']) cpSync(join(ROOT, file), join(target, file))
console.log(`${published.length} packages in ${target}`)

function copyPackage(folder: string, manifest: Manifest): void {
  const { devDependencies: _, scripts: __, ...kept } = manifest
  mkdirSync(join(target ?? '', folder), { recursive: true })
  write(join(target ?? '', folder, 'package.json'), kept)
  for (const file of manifest.files ?? [])
    for (const path of globSync(file, { cwd: join(ROOT, folder) }))
      if (existsSync(join(ROOT, folder, path)))
        cpSync(join(ROOT, folder, path), join(target ?? '', folder, path), {
          recursive: true,
          filter: (source) => !/\.(?:test|fixture)\.|\.tsbuildinfo$/u.test(source),
        })
}
