import { readMigrations, type Migration } from '@agent-exchange/database/migrations'

/** Beside `src` and `dist` alike. */
const FOLDER = new URL('../../migrations/', import.meta.url)

/** The migrations of this release, in order. */
export const readServiceMigrations = (): Migration[] => readMigrations(FOLDER)
