import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE, mustFetch, mustRun } from '../shared/programs.ts'
import { findGo } from './go-toolchain.ts'

/** Downloads of all modules and compilation on two cores take three minutes. */
const BUILD_MS = 420_000

const TLOG_VERIFY = join(import.meta.dirname, 'tlog-verify/main.go')
const FORMATS = 'github.com/transparency-dev/formats'

export type Judge = 'fsck' | 'mirror' | 'posix-oneshot' | 'litewitness' | 'tlog-verify' | 'omniwitness'

interface GoModule {
  readonly path: string
  readonly version: string
  readonly replace?: string
  /** Programs, each with the Go package that holds it. */
  readonly programs: Readonly<Partial<Record<Judge, string>>>
}

/** Implementations of C2SP tlog-tiles, tlog-witness and tlog-proof by other people. */
const MODULES: readonly GoModule[] = [
  {
    path: 'github.com/transparency-dev/tessera',
    version: 'v1.0.4',
    programs: {
      fsck: 'github.com/transparency-dev/tessera/cmd/fsck',
      mirror: 'github.com/transparency-dev/tessera/cmd/experimental/mirror/posix',
      'posix-oneshot': 'github.com/transparency-dev/tessera/cmd/examples/posix-oneshot',
    },
  },
  {
    path: 'filippo.io/torchwood',
    version: 'v0.9.0',
    programs: {
      litewitness: 'filippo.io/torchwood/cmd/litewitness',
      'tlog-verify': './tlog-verify',
    },
  },
  {
    path: 'github.com/transparency-dev/witness',
    version: 'v0.0.0-20260701145555-54dbcdd14f82',
    replace: `${FORMATS} => ${FORMATS} v0.1.1`,
    programs: { omniwitness: 'github.com/transparency-dev/witness/cmd/omniwitness' },
  },
]

/** What `go install` takes for a program of another project. */
export function goInstalls(judge: Judge): string | undefined {
  const module = MODULES.find(({ programs }) => programs[judge] !== undefined)
  return module && `${module.programs[judge]}@${module.version}`
}

/** The path of each program. They are built once and cached outside the repository. */
export type Judges = Readonly<Record<Judge, string>>

export async function buildJudges(): Promise<Judges> {
  const source = readFileSync(TLOG_VERIFY)
  const key = createHash('sha256').update(JSON.stringify(MODULES)).update(source).digest('hex').slice(0, 16)
  const folder = join(CACHE, `log-judges-${key}`)
  if (!existsSync(folder)) {
    const draft = `${folder}.${process.pid}`
    try {
      await build(await findGo(), draft)
      // Another run may have been faster.
      if (!existsSync(folder)) renameSync(draft, folder)
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  }
  const names = MODULES.flatMap(({ programs }) => Object.keys(programs) as Judge[])
  return Object.fromEntries(names.map((name) => [name, join(folder, name)])) as Judges
}

async function build(go: string, folder: string): Promise<void> {
  const env = { GOFLAGS: '-mod=mod -buildvcs=false', GOWORK: 'off', CGO_ENABLED: '0' }
  for (const [index, module] of MODULES.entries()) {
    const scratch = join(folder, `module-${index}`)
    mkdirSync(join(scratch, 'tlog-verify'), { recursive: true })
    copyFileSync(TLOG_VERIFY, join(scratch, 'tlog-verify/main.go'))
    const options = { cwd: scratch, env, limitMs: BUILD_MS }
    writeFileSync(join(scratch, 'go.mod'), goModOf(module))
    const { path, version, programs } = module
    await mustFetch(path, go, ['mod', 'download', `${path}@${version}`], options)
    const place = await mustRun(go, ['list', '-m', '-f', '{{.Dir}}', path], options)
    // The checksums of the dependencies that the module was released with.
    writeFileSync(join(scratch, 'go.sum'), readFileSync(join(place.trim(), 'go.sum')))
    for (const [name, program] of Object.entries(programs))
      await mustFetch(path, go, ['build', '-o', join(folder, name), program], options)
    rmSync(scratch, { recursive: true })
  }
}

function goModOf({ path, version, replace }: GoModule): string {
  const lines = ['module judges', 'go 1.25', `require ${path} ${version}`]
  return `${[...lines, ...(replace ? [`replace ${replace}`] : [])].join('\n')}\n`
}
