import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  formatSignerKey,
  formatVerifierKey,
  noteSigner,
  openCheckpoint,
  parseVerifierKey,
  SIGNATURE_TYPE,
} from '@agent-exchange/log'
import { freePorts } from '@agent-exchange/testkit'
import { runAex } from '../../packages/cli/src/aex-process.fixture.ts'
import { AEX } from '../shared/serve-process.ts'
import { mustRun, run } from '../shared/programs.ts'
import { requireAccepted } from './ask-torchwood.ts'
import { answersAt, startJudge, type JudgeProcess } from './judge-processes.ts'
import type { LogTrial } from './log-trial.ts'

const ORIGIN = 'tessera.example/log'
const APPENDS = 20
/** Appends between two kills of the witness. */
const APPENDS_PER_LIFE = 5
const STEP_MS = 30_000
/** A log that gets no cosignature tries again and again; this is long enough for several tries. */
const REFUSED_MS = 4_000

/** tessera writes a log of its own and asks `aex witness serve` to cosign it. */
export async function tryOwnWitness({ judges, folder, report }: LogTrial): Promise<void> {
  const home = join(folder, 'own-witness')
  mkdirSync(home)
  const file = (name: string, content: string) => {
    writeFileSync(join(home, name), content)
    return join(home, name)
  }
  const seed = randomBytes(32)
  const privateKey = file('log.key', await formatSignerKey(ORIGIN, SIGNATURE_TYPE.ed25519, seed))
  const logKey = formatVerifierKey((await noteSigner(ORIGIN, SIGNATURE_TYPE.ed25519, seed)).key)
  const witnessFolder = join(home, 'witness')
  const { stdout } = await runAex(['witness', 'key', '--dir', witnessFolder, '--name', 'own.example/w'])
  const witnessKey = stdout.trim()
  const [port] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const policy = file('policy.txt', `log ${logKey}\nwitness own ${witnessKey} ${url}\nquorum own\n`)
  const startWitness = () =>
    startJudge(
      process.execPath,
      [AEX, 'witness', 'serve', '--dir', witnessFolder, '--origin', logKey, '--port', String(port)],
      () => answersAt(url),
    )
  const append = (log: string, entry: string) => [
    `--storage_dir=${join(home, log)}`,
    `--entries=${file(entry, entry)}`,
    `--private_key=${privateKey}`,
    `--witness_policy_file=${policy}`,
  ]
  const checkpointOf = (log: string) => readFileSync(join(home, log, 'checkpoint'), 'utf8')
  let witness: JudgeProcess = await startWitness()
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => witness[Symbol.asyncDispose]())

  const isCosigned = await report.step('tessera client', 'aex witness serve cosigns its log', async () => {
    for (let number = 1; number <= APPENDS; number++) {
      await mustRun(judges['posix-oneshot'], append('real', `entry-${number}`), { limitMs: STEP_MS })
      const text = checkpointOf('real')
      requireAccepted(judges, policy, [{ text }])
      assert.equal((await openCheckpoint(text, [parseVerifierKey(logKey)])).size, number)
      if (number % APPENDS_PER_LIFE > 0) continue
      await witness[Symbol.asyncDispose]()
      witness = await startWitness()
    }
    return `${APPENDS} checkpoints, also after kill -9 of the witness; torchwood accepts each`
  })
  if (!isCosigned) return

  await report.step('tessera client', 'aex witness serve refuses another history', async () => {
    const refused = async (log: string) => {
      const args = append(log, 'other')
      const { output } = await run(judges['posix-oneshot'], args, { limitMs: REFUSED_MS })
      assert.match(output, /witness policy was not satisfied/u)
      return output
    }
    assert.match(await refused('emptied'), new RegExp(`replied with x\\.tlog\\.size ${APPENDS}, larger`, 'u'))
    // Larger than the real one, so that only the consistency proof shows the fork.
    for (let number = 0; number <= APPENDS; number++) file(`fork-${number}`, `fork ${number}`)
    const unwitnessed = append('fork', 'fork-0').slice(0, -1)
    const all = [...unwitnessed, `--entries=${join(home, 'fork-*')}`]
    await mustRun(judges['posix-oneshot'], all, { limitMs: STEP_MS })
    await refused('fork')
    assert.match(witness.output(), /Refused tessera\.example\/log of size \d+ with 422/u)
    await mustRun(judges['posix-oneshot'], append('real', 'entry-last'), { limitMs: STEP_MS })
    requireAccepted(judges, policy, [{ text: checkpointOf('real') }])
    return 'neither an emptied log nor a longer fork is cosigned; the real log still is'
  })
}
