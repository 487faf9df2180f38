import { parseVerifierKey } from '@agent-exchange/log'
import { stateFileOf, witnessKeyIn } from './witness-folder.ts'
import { startWitness } from './witness-server.ts'
import { openWitnessState } from './witness-state.ts'

/** A witness that dies with SIGKILL after it stored a checkpoint and before it answers. */
const [dir = '', vkey = ''] = process.argv.slice(2)
const { key } = await witnessKeyIn(dir)
const sign = () => {
  process.kill(process.pid, 'SIGKILL')
  return new Promise<never>(() => undefined)
}
const options = { logs: [parseVerifierKey(vkey)], state: openWitnessState(stateFileOf(dir)) }
const { url } = await startWitness(
  { ...options, signer: { key, sign }, now: () => new Date() },
  { host: '127.0.0.1', port: 0 },
)
process.stdout.write(`${url}\n`)
