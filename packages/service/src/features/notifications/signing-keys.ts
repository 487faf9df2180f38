import type { Read } from '../../kernel/call.ts'

/** ID-08: the platform keys that sign webhooks, current and retiring, also the one that will sign next. */
export const getNotificationSigningKeys: Read<'getNotificationSigningKeys'> = ({ context, now }, db) =>
  context.webhookKeys.directory(db, now)
