import { readMasterKeyStatus } from '../../features/master-key/master-key-status.ts'
import { rotate } from '../../features/master-key/rotate.ts'
import { change, input, optionalReason, read, type Route } from '../route.ts'

const readMasterKey = read('/master-key', input({}), ({ masterKeys }, db) =>
  readMasterKeyStatus(db, masterKeys()),
)

const rotateMasterKeyRoute = change(
  '/master-key/rotate',
  { body: input({ reason: optionalReason }), role: 'administrator' },
  async ({ masterKeys, now }, tx) => {
    const answer = await rotate(tx, masterKeys(), now)
    return { answer, action: 'master_key.rotate', target: 'master_key', details: answer }
  },
)

export const masterKeyRoutes: readonly Route[] = [readMasterKey, rotateMasterKeyRoute]
