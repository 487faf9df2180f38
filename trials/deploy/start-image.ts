import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { mustRun, requireProgram, run } from '../shared/programs.ts'
import { Skipped } from '../shared/report.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { readContainerfile } from './containerfile.ts'

const ASSEMBLE_MS = 300_000
const READY_MS = 60_000
const STOP_MS = 60_000
const HEALTH_MS = 10_000
const SECRETS = '/run/secrets'

export interface ImageStart {
  /** What `assembleImage` made. */
  readonly content: string
  readonly folder: string
  /** In deploy/container. */
  readonly containerfile: string
  readonly environment: Readonly<Record<string, string>>
  /** Texts by name, each a file in /run/secrets that only the user of the image can read. */
  readonly secrets: Readonly<Record<string, string>>
  /** Called while the image runs. */
  readonly whileRunning?: () => Promise<void>
}

/** What both images hold. */
export async function assembleImage(folder: string): Promise<string> {
  const content = join(folder, 'image')
  await mustRun(process.execPath, ['deploy/container/assemble.ts', content], {
    cwd: ROOT,
    limitMs: ASSEMBLE_MS,
  })
  for (const unit of ['agent-exchange@.service', 'agent-exchange-gateway.service'])
    requireDocumentation(content, unit)
  return content
}

/**
 * Starts an image as a container engine would: the user of the Containerfile, a read-only root, no capabilities, its own
 * processes, only the volume and /tmp writable. The base is the Debian of this machine.
 */
export async function startImage(start: ImageStart): Promise<string> {
  requireProgram('bwrap', '--version')
  if (process.getuid?.() !== 0) throw new Skipped('the image is started as root only')
  const { content, folder, containerfile, secrets, whileRunning } = start
  const image = readContainerfile(readFileSync(join(ROOT, 'deploy/container', containerfile), 'utf8'))
  const [user = '', group = ''] = image.user.split(':')
  const data = mkdtempSync(join(folder, 'volume-'))
  chownSync(data, Number(user), Number(group))
  chmodSync(folder, 0o711)
  const environment = { ...image.environment, ...start.environment, PATH: '/opt/node/bin:/usr/bin' }
  const mounted = Object.entries(secrets).map(([name, text]) => {
    const path = join(data, `../${basename(data)}-${name}`)
    writeFileSync(path, text, { mode: 0o600 })
    chownSync(path, Number(user), Number(group))
    return ['--ro-bind', path, `${SECRETS}/${name}`]
  })
  const sandbox = [
    ['--ro-bind', '/usr', '/usr', '--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
    ['--symlink', 'usr/bin', '/bin', '--ro-bind', '/etc/ssl', '/etc/ssl'],
    ['--ro-bind', '/etc/passwd', '/etc/passwd', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ['--ro-bind', join(process.execPath, '../..'), '/opt/node', '--ro-bind', content, '/opt/agent-exchange'],
    ['--bind', data, image.volumes[0] ?? '', '--chdir', image.workingDirectory],
    ...mounted,
    ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'],
    ['--uid', user, '--gid', group, '--remount-ro', '/', '--die-with-parent', '--clearenv'],
    Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
  ].flat()
  const child = spawn('bwrap', [...sandbox, ...image.command], {
    uid: Number(user),
    gid: Number(group),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  try {
    const started = performance.now()
    const [, script = '', ...healthArgs] = image.healthCheck
    for (;;) {
      const { code } = await run(process.execPath, [join(content, basename(script)), ...healthArgs], {
        env: environment,
        limitMs: HEALTH_MS,
      })
      if (code === 0) break
      if (child.exitCode !== null || performance.now() - started > READY_MS)
        throw new Error(`the image did not become ready\n${output.slice(-4_000)}`)
      await sleep(200)
    }
    const seconds = (performance.now() - started) / 1_000
    if (output.includes('is a superuser')) throw new Error('the role of the compose file is a superuser')
    await whileRunning?.()
    await stop(child.pid ?? 0, ended)
    return `ready after ${seconds.toFixed(1)} s as user ${user} on a read-only root, with an unprivileged database role; ended on SIGTERM`
  } finally {
    child.kill('SIGKILL')
  }
}

/** A systemd unit names a file of the assembled folder. */
function requireDocumentation(content: string, name: string): void {
  const unit = readFileSync(join(ROOT, 'deploy/systemd', name), 'utf8')
  const [, file = ''] = /^Documentation=file:\/opt\/agent-exchange\/(.+)$/mu.exec(unit) ?? []
  if (file === '' || !existsSync(join(content, file)))
    throw new Error(`${name} documents ${file || 'nothing'}, which is not assembled`)
}

/** bwrap does not forward signals: the server is its grandchild. */
async function stop(pid: number, ended: Promise<number | null>): Promise<void> {
  const inner = await mustRun('pgrep', ['--parent', String(pid)], { limitMs: HEALTH_MS })
  const server = await mustRun('pgrep', ['--parent', inner.trim()], { limitMs: HEALTH_MS })
  process.kill(Number(server.trim()), 'SIGTERM')
  const code = await Promise.race([ended, sleep(STOP_MS, 'late' as const)])
  if (code !== 0) throw new Error(`the image ended with ${code} on SIGTERM`)
}
