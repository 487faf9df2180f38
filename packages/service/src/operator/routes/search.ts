import { findById } from '../../features/lookup/find-by-id.ts'
import { input, read, text, type Route } from '../route.ts'

/** As long as the longest id that a caller may choose. */
const MAXIMUM_ID_CHARACTERS = 1_024

export const searchRoute = read(
  '/search',
  input({ id: text(MAXIMUM_ID_CHARACTERS) }),
  async ({ input: { id } }, db) => ({ id, items: await findById(db, id) }),
)

export const searchRoutes: readonly Route[] = [searchRoute]
