import type { Queries } from './database.ts'

/** Whether the service's role may do anything on the server, such as reading files and running programs. */
export async function isSuperuser(db: Queries): Promise<boolean> {
  const [row] = await db<{ superuser: string }[]>`select current_setting('is_superuser') as superuser`
  return row?.superuser === 'on'
}
