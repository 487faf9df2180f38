import { MAXIMUM_NOTE_BYTES } from '@agent-exchange/log'
import { LOG_ORIGIN } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { openMirror } from '../../features/transparency-log/log-mirror.ts'
import { startNewOrigin } from '../../features/transparency-log/new-origin.ts'
import { readLogStatus } from '../../features/transparency-log/log-status.ts'
import { recoverLog } from '../../features/transparency-log/recover-log.ts'
import { change, input, read, reason, text, type Route } from '../route.ts'

const MAXIMUM_URL_CHARACTERS = 2_000
const MAXIMUM_TOKEN_CHARACTERS = 8_000
const token = text(MAXIMUM_TOKEN_CHARACTERS)
const origin = Type.String({ pattern: LOG_ORIGIN, maxLength: 200 })
const checkpoint = Type.String({ minLength: 1, maxLength: MAXIMUM_NOTE_BYTES })

export const readTransparencyLog = read('/transparency-log', input({}), ({ context }, db) =>
  readLogStatus(db, context.profile),
)

export const recoverTransparencyLog = change(
  '/transparency-log/recover',
  {
    body: input({ mirror_url: text(MAXIMUM_URL_CHARACTERS), mirror_token: Type.Optional(token), reason }),
    role: 'administrator',
  },
  async ({ input: { mirror_url, mirror_token }, now }, tx) => {
    const answer = await recoverLog(tx, openMirror(mirror_url, mirror_token), now)
    return { answer, action: 'transparency_log.recover', target: 'transparency_log', details: answer }
  },
)

const startNewLog = change(
  '/transparency-log/new-origin',
  {
    body: input({ new_origin: origin, checkpoint: Type.Optional(checkpoint), reason }),
    role: 'administrator',
  },
  async ({ input: body, rotatingKeys, now }, tx) => {
    const wanted = { origin: body.new_origin, checkpoint: body.checkpoint, now }
    const answer = await startNewOrigin(tx, wanted, rotatingKeys.log)
    return { answer, action: 'transparency_log.new_origin', target: 'transparency_log', details: answer }
  },
)

/** The transparency log. `/log` is the operator log. */
export const transparencyLogRoutes: readonly Route[] = [
  readTransparencyLog,
  recoverTransparencyLog,
  startNewLog,
]
