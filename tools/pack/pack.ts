/** `npm run pack`: packs the packages as they would be published, and installs them in a project. */

import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { ROOT } from '../repository/repository-files.ts'
import { packPackages, type Tarballs } from './packed-packages.ts'
import { isPublished } from './published-packages.ts'

const HELP = `Packs the packages of this repository as tarballs, because no registry has them yet.

  npm run pack                                   writes tarballs/ and prints how to install them
  npm run pack -- --into ../my-agent             also installs the SDK and aex in that folder
  npm run pack -- --into ../exchange --service   and the service, with an embedded PostgreSQL
    --to FOLDER                                  where to write the tarballs (default tarballs/ in this checkout)`

/** An agent needs neither, and no PostgreSQL. */
const OF_SERVICE = ['database', 'gateway', 'pkcs11', 'server', 'service']
/** It judges implementations, and needs nothing else of ours. */
const OF_KIT = ['conformance', 'crypto', 'log', 'protocol', 'web']
const run = promisify(execFile)
/** npm runs scripts in the checkout; paths are relative to the folder of the user. */
const here = process.env['INIT_CWD'] ?? process.cwd()

const { values: options } = parseArgs({
  options: {
    to: { type: 'string' },
    into: { type: 'string' },
    service: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (options.help) console.log(HELP)
else await pack()

async function pack(): Promise<void> {
  const folder = options.to === undefined ? join(ROOT, 'tarballs') : resolve(here, options.to)
  mkdirSync(folder, { recursive: true })
  // Tarballs of another version would be installed too.
  for (const name of readdirSync(folder))
    if (/^agent-exchange-.+\.tgz$/u.test(name)) rmSync(join(folder, name))
  removeBuilds()
  const tarballs = await packPackages(folder)
  console.log(`${tarballs.size} packages in ${folder}`)
  if (options.into === undefined) return explain(tarballs)
  const project = resolve(here, options.into)
  mkdirSync(project, { recursive: true })
  // Without a prefix, npm would install in a project above an empty folder.
  const files = chosen(tarballs, options.service)
  await run('npm', ['install', '--prefix', project, '--no-audit', '--no-fund', '--loglevel=error', ...files])
  console.log(`installed in ${project}: ${options.service ? 'SDK, aex and service' : 'SDK and aex'}`)
  console.log(`  try it   cd ${relative(here, project) || '.'} && npx aex --help`)
}

/** A build of an earlier revision may hold files whose sources are gone. */
function removeBuilds(): void {
  for (const name of readdirSync(join(ROOT, 'packages')).filter(isPublished))
    for (const built of ['dist', 'tsconfig.tsbuildinfo'])
      rmSync(join(ROOT, 'packages', name, built), { recursive: true, force: true })
}

function explain(tarballs: Tarballs): void {
  console.log(`\nIn your project, for an agent:\n  npm install ${shortened(chosen(tarballs, false))}`)
  console.log(`\nFor an agent and an exchange:\n  npm install ${shortened(chosen(tarballs, true))}`)
  console.log(
    `\nFor the conformance kit:\n  npm install ${shortened(OF_KIT.map((name) => fileOf(tarballs, name)))}`,
  )
}

/** Absolute paths, as bash and zsh expand them: the line is pasted in another folder. */
function shortened(files: readonly string[]): string {
  const parts = files.map((file) => /^(.+\/agent-exchange-)(\w+)(-[^/]+)$/u.exec(file) ?? ['', '', file, ''])
  const [, start = '', , end = ''] = parts[0] ?? []
  const isCommon = parts.every(([, head, , tail]) => head === start && tail === end)
  return isCommon ? `${start}{${parts.map(([, , name]) => name).join()}}${end}` : files.join(' ')
}

/** All tarballs at once, because each needs the others, which no registry has. */
function chosen(tarballs: Tarballs, service: boolean): string[] {
  const others = new Set(['conformance', ...(service ? [] : OF_SERVICE)].map(packageName))
  return [...tarballs].filter(([name]) => !others.has(name)).map(([, file]) => file)
}

function packageName(folder: string): string {
  return `@agent-exchange/${folder}`
}

function fileOf(tarballs: Tarballs, folder: string): string {
  return tarballs.get(packageName(folder)) ?? ''
}
