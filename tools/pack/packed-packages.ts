import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../repository/repository-files.ts'
import { strayFiles } from './package-files.ts'
import { isPublished, manifestOf } from './published-packages.ts'

const run = promisify(execFile)

/** Tarballs by the name of their package, as `npm publish` would upload them. */
export type Tarballs = ReadonlyMap<string, string>

/** Packs every package that is not private, and checks which files each tarball holds. */
export async function packPackages(destination: string): Promise<Tarballs> {
  const folders = readdirSync(join(ROOT, 'packages')).filter(isPublished)
  const workspaces = folders.flatMap((folder) => ['--workspace', `packages/${folder}`])
  await run('npm', ['pack', ...workspaces, '--pack-destination', destination], { cwd: ROOT })
  const tarballs = new Map(
    folders.map((folder) => {
      const { name, version } = manifestOf(folder)
      return [name, join(destination, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)]
    }),
  )
  for (const folder of folders) {
    const { name } = manifestOf(folder)
    const { stdout } = await run('tar', ['-tzf', tarballs.get(name) ?? ''])
    const packed = stdout
      .trim()
      .split('\n')
      .map((path) => path.replace(/^package\//u, ''))
    const sources = new Set(globSync('**/*.ts', { cwd: join(ROOT, 'packages', folder, 'src') }))
    assert.ok(
      packed.some((path) => /^dist\/.+\.js$/u.test(path)),
      `${name} holds no code`,
    )
    assert.deepEqual(strayFiles(packed, sources), [], `${name} holds files that no user of it needs`)
  }
  return tarballs
}
