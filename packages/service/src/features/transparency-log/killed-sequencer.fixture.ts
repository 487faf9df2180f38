import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { openDatabase } from '@agent-exchange/database'
import { systemClock } from '@agent-exchange/server/clock'
import { noteSigner, SIGNATURE_TYPE } from '@agent-exchange/log'
import { randomId } from '../../kernel/ids.ts'
import { platformIdentity } from '../agents/platform-identity.ts'
import { openPlatformKeys } from '../../platform-keys/platform-keys.ts'
import { checkpointFile } from './checkpoint-file.ts'
import { createLogMetrics } from './log-metrics.ts'
import { openLog } from './open-log.ts'
import { startSequencer } from './sequencer.ts'

/** A process that sequences, and that is killed at the named step of its first checkpoint. */
const [databaseUrl = '', masterKey = '', dataDirectory = '', step = '', witnessUrl = ''] =
  process.argv.slice(2)
const db = openDatabase({ target: databaseUrl, maximumConnections: 5, applicationName: 'killed sequencer' })
const [profile, clock] = [DEFAULT_PROFILE, systemClock]
const keys = await openPlatformKeys({
  db,
  masterKeys: () => ({ current: Buffer.from(masterKey, 'hex') }),
  profile,
  clock,
  newId: randomId,
  identity: platformIdentity,
})
const die = () => process.kill(process.pid, 'SIGKILL')
const file = checkpointFile(dataDirectory)
const { key } = await noteSigner('witness.example', SIGNATURE_TYPE.cosignature, new Uint8Array(32).fill(7))
startSequencer({
  db,
  clock,
  profile,
  log: pino({ level: 'silent' }),
  file: {
    ...file,
    async write(checkpoint) {
      if (step === 'before the file') die()
      await file.write(checkpoint)
      if (step === 'after the file') die()
    },
  },
  keys: await openLog(db, { profile, clock, publicUrl: 'http://127.0.0.1:1' }, keys),
  // The witness kills this process once it has the signed checkpoint.
  witnesses: step === 'after the signature' ? [{ kind: 'witness', name: 'w', key, url: witnessUrl }] : [],
  holder: 'killed',
  metrics: createLogMetrics(new Registry()),
})
