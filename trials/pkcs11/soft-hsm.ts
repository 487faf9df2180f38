import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mustFetch, mustRun, requireProgram } from '../shared/programs.ts'
import { Skipped } from '../shared/report.ts'

const INSTALL_MS = 180_000
const TOOL_MS = 20_000
const BINDING = 'pkcs11js@2.1.7'
const LIBRARIES = [
  '/usr/lib/softhsm/libsofthsm2.so',
  '/usr/lib64/softhsm/libsofthsm.so',
  '/opt/homebrew/lib/softhsm/libsofthsm2.so',
]

/** A token of SoftHSM, and the binding to it. */
export interface SoftHsm {
  readonly module: string
  readonly token: string
  readonly pinFile: string
  /** The folder of pkcs11js. */
  readonly binding: string
  /** A module without it shows no token. */
  readonly tokenFolder: string
  /** What a process needs to use it. */
  readonly env: Readonly<Record<string, string>>
}

/** Compiles the binding in a temporary folder, as whoever has a module does. */
export async function prepareSoftHsm(folder: string): Promise<SoftHsm> {
  requireProgram('softhsm2-util', '--version')
  requireProgram('g++', '--version')
  requireProgram('make', '--version')
  const module = LIBRARIES.find((path) => existsSync(path))
  if (module === undefined) throw new Skipped('the library of SoftHSM is not installed')
  const home = join(folder, 'binding')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{"private":true}')
  const node = dirname(process.execPath)
  const headers = dirname(node)
  await mustFetch('npm', 'npm', ['install', '--no-audit', '--no-fund', BINDING], {
    cwd: home,
    env: {
      PATH: `${node}:${process.env['PATH']}`,
      // The Node of this repository has its own headers, so that node-gyp downloads none.
      ...(existsSync(join(headers, 'include/node')) && { npm_config_nodedir: headers }),
    },
    limitMs: INSTALL_MS,
  })
  const tokenFolder = join(folder, 'tokens')
  mkdirSync(tokenFolder)
  const settings = join(folder, 'softhsm2.conf')
  writeFileSync(
    settings,
    `directories.tokendir = ${tokenFolder}\nobjectstore.backend = file\nlog.level = ERROR\n`,
  )
  const pinFile = join(folder, 'pin')
  writeFileSync(pinFile, '1234\n', { mode: 0o600 })
  const env = { SOFTHSM2_CONF: settings, NODE_PATH: join(home, 'node_modules') }
  const token = 'trial'
  const init = ['--init-token', '--free', '--label', token, '--pin', '1234', '--so-pin', '5678']
  await mustRun('softhsm2-util', init, { env, limitMs: TOOL_MS })
  return { module, token, pinFile, binding: join(home, 'node_modules/pkcs11js'), tokenFolder, env }
}
