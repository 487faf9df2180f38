import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '@agent-exchange/testkit'
import { mustRun, requireProgram, run } from '../shared/programs.ts'
import { Skipped } from '../shared/report.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { composeDatabase } from './compose-database.ts'
import { readContainerfile } from './containerfile.ts'

const ASSEMBLE_MS = 300_000
const READY_MS = 60_000
const STOP_MS = 60_000
const HEALTH_MS = 10_000

/**
 * Assembles what the image holds and starts it as a container engine would: the user of the Containerfile, a read-only
 * root, no capabilities, its own processes, only the volume and /tmp writable. The base is the Debian of this machine. Role
 * of the database and master key are those of the compose file.
 */
export async function startImage(folder: string): Promise<string> {
  requireProgram('bwrap', '--version')
  if (process.getuid?.() !== 0) throw new Skipped('the image is started as root only')
  const content = join(folder, 'image')
  await mustRun(process.execPath, ['deploy/container/assemble.ts', content], {
    cwd: ROOT,
    limitMs: ASSEMBLE_MS,
  })
  requireDocumentation(content)
  const image = readContainerfile(readFileSync(join(ROOT, 'deploy/container/Containerfile'), 'utf8'))
  const [user = '', group = ''] = image.user.split(':')
  const data = mkdtempSync(join(folder, 'volume-'))
  chownSync(data, Number(user), Number(group))
  chmodSync(folder, 0o711)
  const masterKey = join(folder, 'master-key')
  writeFileSync(masterKey, 'ab'.repeat(32), { mode: 0o600 })
  chownSync(masterKey, Number(user), Number(group))
  await using database = await composeDatabase()
  const [agents = 0, operators = 0] = await freePorts(2)
  const environment = {
    ...image.environment,
    AEX_HOST: '127.0.0.1',
    AEX_PORT: String(agents),
    AEX_OPERATOR_PORT: String(operators),
    DATABASE_URL: database.url,
    AEX_MASTER_KEY_FILE: '/run/secrets/master_key',
    PATH: '/opt/node/bin:/usr/bin',
  }
  const sandbox = [
    ['--ro-bind', '/usr', '/usr', '--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64'],
    ['--symlink', 'usr/bin', '/bin', '--ro-bind', '/etc/ssl', '/etc/ssl'],
    ['--ro-bind', '/etc/passwd', '/etc/passwd', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp'],
    ['--ro-bind', join(process.execPath, '../..'), '/opt/node', '--ro-bind', content, '/opt/agent-exchange'],
    ['--bind', data, image.volumes[0] ?? '', '--chdir', image.workingDirectory],
    ['--ro-bind', masterKey, environment.AEX_MASTER_KEY_FILE],
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
    for (;;) {
      const { code } = await run(process.execPath, [join(content, 'health-check.js')], {
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
    await stop(child.pid ?? 0, ended)
    return `ready after ${seconds.toFixed(1)} s as user ${user} on a read-only root, with an unprivileged database role; ended on SIGTERM`
  } finally {
    child.kill('SIGKILL')
  }
}

/** The systemd unit names a file of the assembled folder. */
function requireDocumentation(content: string): void {
  const unit = readFileSync(join(ROOT, 'deploy/systemd/agent-exchange@.service'), 'utf8')
  const [, file = ''] = /^Documentation=file:\/opt\/agent-exchange\/(.+)$/mu.exec(unit) ?? []
  if (file === '' || !existsSync(join(content, file)))
    throw new Error(`the unit documents ${file || 'nothing'}, which is not assembled`)
}

/** bwrap does not forward signals: the exchange is its grandchild. */
async function stop(pid: number, ended: Promise<number | null>): Promise<void> {
  const inner = await mustRun('pgrep', ['--parent', String(pid)], { limitMs: HEALTH_MS })
  const exchange = await mustRun('pgrep', ['--parent', inner.trim()], { limitMs: HEALTH_MS })
  process.kill(Number(exchange.trim()), 'SIGTERM')
  const code = await Promise.race([ended, sleep(STOP_MS, 'late' as const)])
  if (code !== 0) throw new Error(`the image ended with ${code} on SIGTERM`)
}
