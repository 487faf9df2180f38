import type { Read } from '../../kernel/call.ts'

/** ID-08: the platform's webhook signing keys: current, retiring and next. */
export const getNotificationSigningKeys: Read<'getNotificationSigningKeys'> = ({ context, now }, db) =>
  context.webhookKeys.directory(db, now)
