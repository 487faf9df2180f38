import { readLogStatus } from '../../features/transparency-log/log-status.ts'
import { recoverLog } from '../../features/transparency-log/recover-log.ts'
import { change, input, read, reason, text, type Route } from '../route.ts'

const MAXIMUM_URL_CHARACTERS = 2_000

/** The transparency log. `/log` is the operator log. */
export const transparencyLogRoutes: readonly Route[] = [
  read('/transparency-log', input({}), ({ context }, db) => readLogStatus(db, context.profile)),

  change(
    '/transparency-log/recover',
    { body: input({ mirror_url: text(MAXIMUM_URL_CHARACTERS), reason }) },
    async ({ input: body, now }, tx) => {
      const answer = await recoverLog(tx, body.mirror_url, now)
      return { answer, action: 'transparency_log.recover', target: 'transparency_log', details: answer }
    },
  ),
]
